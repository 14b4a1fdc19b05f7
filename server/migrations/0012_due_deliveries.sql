-- What is due has an index that no other can stand in for: with the plain column the planner took the index of the log
-- as soon as few of many deliveries were pending, and read all that a subscription ever had (130 ms for 100 leases).
drop index deliveries_due;
create index deliveries_due on deliveries (community_id, (subscription_id + 0), next_attempt_at, id)
  where status = 'pending';

-- For pruning, across communities: deliveries lie in the order of their time, and each is written three times.
drop index deliveries_age;
create index deliveries_age on deliveries using brin (event_created_at);
