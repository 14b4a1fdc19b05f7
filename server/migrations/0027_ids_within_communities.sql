-- Ids of members, listings and subscriptions count within the community, and a partner's transaction_id within the
-- partner. Sequences are shared, so gaps showed how much happened elsewhere.
create table id_counters (
  community_id int8 not null references communities,
  counted text not null check (counted in ('members', 'listings', 'subscriptions', 'credits')),
  -- Of credits; 0 otherwise.
  partner_id int8 not null default 0,
  last_id int8 not null,
  primary key (community_id, counted, partner_id)
) with (fillfactor = 50);
alter table id_counters alter column community_id set statistics 0;

-- Ids that were issued stay valid and are not issued again. Of these, only subscriptions can have been deleted.
insert into id_counters (community_id, counted, last_id)
  select c.id, 'members', (select max(id) from members where community_id = c.id) from communities c
  where exists (select from members where community_id = c.id);
insert into id_counters (community_id, counted, last_id)
  select c.id, 'listings', (select max(id) from listings where community_id = c.id) from communities c
  where exists (select from listings where community_id = c.id);
insert into id_counters (community_id, counted, last_id)
  select community_id, 'subscriptions', max(id) from (
    select community_id, id from subscriptions
    union all
    select community_id, subject_id from audit_log where subject_kind = 'subscription' and subject_id is not null
  ) s
  group by community_id;
insert into id_counters (community_id, counted, partner_id, last_id)
  select p.community_id, 'credits', p.id,
    (select max(id) from credits where community_id = p.community_id and partner_id = p.id)
  from partners p
  where exists (select from credits where community_id = p.community_id and partner_id = p.id);

-- Issues that many ids and returns the first. The community's other inserts of the kind wait until commit.
create function take_ids(community int8, kind text, partner int8, amount int8) returns int8 language sql as $$
  insert into id_counters as c (community_id, counted, partner_id, last_id) values (community, kind, partner, amount)
  on conflict (community_id, counted, partner_id) do update set last_id = c.last_id + excluded.last_id
  returning c.last_id - amount + 1
$$;

create function assign_id() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'credits' then
    new.id := take_ids(new.community_id, 'credits', new.partner_id, 1);
  else
    new.id := take_ids(new.community_id, tg_table_name, 0, 1);
    -- The default was evaluated before the wait for the counter. Only now does the transaction hold back sync_horizon(),
    -- so an earlier time would be skipped by readers that follow changes.
    if new.updated_at >= now() then
      new.updated_at := clock_timestamp();
    end if;
  end if;
  return new;
end
$$;

alter table members alter column id drop identity;
alter table listings alter column id drop identity;
alter table subscriptions alter column id drop identity;
alter table credits alter column id drop identity;

-- For rows that are inserted without an id: one by one, or by nodes of the previous version.
create trigger members_assign_id before insert on members
  for each row when (new.id is null) execute function assign_id();
create trigger listings_assign_id before insert on listings
  for each row when (new.id is null) execute function assign_id();
create trigger subscriptions_assign_id before insert on subscriptions
  for each row when (new.id is null) execute function assign_id();
create trigger credits_assign_id before insert on credits
  for each row when (new.id is null) execute function assign_id();

alter table credits drop constraint credits_id_key, add constraint credits_id_key unique (community_id, partner_id, id);
drop index credits_partner;
alter table credit_reversals drop constraint credit_reversals_credit_key,
  add constraint credit_reversals_credit_key unique (community_id, partner_id, credit_id);
