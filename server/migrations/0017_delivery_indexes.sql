-- Each delivery is written twice: when it is made, and soon after with what became of it, which makes a second entry in
-- every index. There is room for both from the start, so that pages need not be searched for what is dead.
alter index deliveries_pkey set (fillfactor = 50);
alter index deliveries_event_key set (fillfactor = 50);
