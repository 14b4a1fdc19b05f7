-- An audit log that people can read: the rows of an import stand behind the import, and what a client reads of email
-- addresses is one line a day. Every single entry stays.
alter table audit_log add column batch uuid;
comment on column audit_log.batch is 'Of the entries of one import, and of the entry that stands for all of them.';
create index audit_log_batch on audit_log (community_id, batch, id) where batch is not null;
-- What the log shows at first. Without it, a page would read past every call that read addresses.
create index audit_log_shown on audit_log (community_id, id) where batch is null and action <> 'members.email_read';

create table email_read_days (
  community_id int8 not null references communities,
  client_id int8 not null,
  -- By the community's calendar.
  day date not null,
  client_name text not null,
  -- The entry of the first call: the place in the log.
  first_id int8 not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  calls int8 not null,
  addresses int8 not null,
  primary key (community_id, client_id, day)
) with (fillfactor = 50);
alter table email_read_days alter column community_id set statistics 0;
create index email_read_days_order on email_read_days (community_id, first_id);

insert into email_read_days (community_id, client_id, day, client_name, first_id, first_at, last_at, calls, addresses)
select l.community_id, l.actor_id, (l.at at time zone c.time_zone)::date, max(l.actor_name), min(l.id), min(l.at), max(l.at),
  count(*), sum(coalesce(cardinality(l.member_ids), 0))
from audit_log l join communities c on c.id = l.community_id
where l.action = 'members.email_read' and l.actor_id is not null
group by 1, 2, 3;
