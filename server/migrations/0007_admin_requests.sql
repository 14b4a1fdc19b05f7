-- What the office records in the console, so that a request sent again after a lost answer is not carried out twice;
-- categories that are no longer offered; ways into the audit log.

create table admin_requests (
  community_id int8 not null references communities,
  -- Chosen by the console, once per form.
  key text not null check (length(key) between 16 and 64),
  admin_id int8 not null references admins,
  -- SHA-256 of what was asked: the same key with another wish is a mistake, and is refused.
  digest bytea not null,
  transfer_ids int8[] not null default '{}',
  created_at timestamptz not null default now(),
  primary key (community_id, key)
);
create index admin_requests_age on admin_requests (created_at);

-- Listings that have it keep it; it is not offered for new ones.
alter table categories add column retired_at timestamptz;

create index audit_log_subject on audit_log (community_id, subject_kind, subject_id, id);
create index audit_log_action on audit_log (community_id, action, id);
-- Not of clients: they write an entry for every call that reads email addresses.
create index audit_log_admin on audit_log (community_id, actor_id, id) where actor_kind = 'admin';
