-- A delivery is a row from the fan-out on, and each subscription with deliveries has one row of the engine's state. It
-- is separate from the subscription, so that the row which workers keep updating is not the one administrators edit.
create table delivery_queues (
  community_id int8 not null,
  subscription_id int8 not null,
  -- Not later than the next attempt of any pending delivery; null when nothing is pending.
  due_at timestamptz,
  -- The worker that sends for this subscription, and until when.
  worker uuid,
  leased_until timestamptz,
  -- The circuit breaker: failures in a row, and until when no attempt is made because of them.
  failures int4 not null default 0,
  paused_until timestamptz,
  -- Incremented when the breaker is reset, so that a worker does not overwrite the reset with what it knew before.
  resets int4 not null default 0,
  primary key (community_id, subscription_id),
  foreign key (community_id, subscription_id) references subscriptions on delete cascade
);
-- See migration 0010.
alter table delivery_queues alter column community_id set statistics 0;
-- The search for work reads this index only: a subscription without pending deliveries is not in it.
create index delivery_queues_due on delivery_queues (due_at) where due_at is not null;

-- Events between the two positions of a cursor have no row yet unless they were attempted.
insert into deliveries (community_id, subscription_id, event_id, event_created_at, next_attempt_at, created_at)
select s.community_id, s.id, e.id, e.created_at, e.created_at, e.created_at
from delivery_cursors k
join subscriptions s on s.community_id = k.community_id and s.id = k.subscription_id
join events e on e.community_id = k.community_id and e.position > k.done_position and e.position <= k.wanted_position
  and case when e.subscription_id is null
    then s.event_types && array['*', e.type, split_part(e.type, '.', 1) || '.*']
    else e.subscription_id = s.id end
on conflict (community_id, subscription_id, event_id) do nothing;
drop table delivery_cursors;
drop table delivery_leases;

-- Without the foreign key, a node of an older version could leave deliveries of a deleted subscription behind.
delete from deliveries d where not exists (
  select from subscriptions s where s.community_id = d.community_id and s.id = d.subscription_id);
alter table deliveries add foreign key (community_id, subscription_id) references subscriptions on delete cascade;

insert into delivery_queues (community_id, subscription_id, due_at)
select community_id, subscription_id, min(next_attempt_at) from deliveries
where status = 'pending' group by community_id, subscription_id;

comment on column subscriptions.set_going_at is
  'Replaced by delivery_queues.resets. Nodes of the previous version still write it; a later release drops it.';
comment on column deliveries.claims is
  'Incremented when the delivery is queued again: results of attempts that began before are ignored.';
