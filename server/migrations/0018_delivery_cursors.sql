-- What nobody has tried to deliver yet has no row: how far a subscription has got among the events says what is left.
-- A row is made with what became of it, so that most deliveries are written once instead of three times.
create table delivery_cursors (
  community_id int8 not null,
  subscription_id int8 not null,
  -- Up to this event nothing is left that has no row.
  done_position int8 not null,
  -- The last event that the subscription is to be told of.
  wanted_position int8 not null,
  primary key (community_id, subscription_id)
) with (fillfactor = 50);
-- As migration 0010 has it for all tables.
alter table delivery_cursors alter column community_id set statistics 0;

-- Whoever makes rows locks their subscriptions, once for all: a look for each was a fifth of the time for making them.
alter table deliveries drop constraint deliveries_community_id_subscription_id_fkey;

-- Each delivery has one entry now, in the order of the ids.
alter index deliveries_pkey reset (fillfactor);
alter index deliveries_event_key reset (fillfactor);
