-- Pruning finds old deliveries by subscription and event.
drop index deliveries_age;
