-- Which worker sends for a subscription. Not each delivery is leased: that wrote its row and all its indexes anew.
-- Apart from the subscription, whose row is locked for long while it is deleted with all its deliveries.
create table delivery_leases (
  community_id int8 not null,
  subscription_id int8 not null,
  worker uuid not null,
  until timestamptz not null,
  primary key (community_id, subscription_id)
);
-- As migration 0010 has it for all tables.
alter table delivery_leases alter column community_id set statistics 0;

-- The log of a subscription goes by the event: deliveries_event_key has that order.
drop index deliveries_log;

comment on column deliveries.claims is
  'Rises whenever it is set going again: what was sent before that no longer counts.';
