-- Attempts are deleted together with their deliveries from now on: an erasure finds what receivers answered about a
-- person by its delivery only. Those whose delivery is gone already would have stayed until their week was pruned.
delete from attempts a where not exists (
  select from deliveries d where d.community_id = a.community_id and d.id = a.delivery_id);
