-- A role is an offer until the person accepts it. An invitation belongs to the community that makes it and gives access
-- to nothing else; an unaccepted one is not an administrator.
create table admin_invitations (
  community_id int8 not null references communities,
  -- Random: a counter shared by all communities would tell what happens in others.
  id int8 not null,
  token_hash bytea not null,
  email text not null check (length(email) between 3 and 254),
  name text not null check (length(name) between 1 and 200),
  role text not null check (role in ('owner', 'manager', 'viewer')),
  -- The invitation ends when this person is no longer an owner.
  invited_by int8 references admins,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (community_id, id)
);
create unique index admin_invitations_email_key on admin_invitations (community_id, lower(email));
create unique index admin_invitations_token_key on admin_invitations (community_id, token_hash);
create index admin_invitations_expiry on admin_invitations (expires_at);

-- How a community knows its administrators. Accounts are shared by all communities, and an owner must not learn from
-- one what happens in others. Null only in rows that a node of the previous version inserts.
alter table community_admins
  add column name text check (length(name) between 1 and 200),
  add column email text check (length(email) between 3 and 254),
  add column last_seen_at timestamptz;
update community_admins r set name = a.name, email = a.email,
  last_seen_at = case when (select count(*) from community_admins o where o.admin_id = a.id) = 1
    then (select max(s.last_seen_at) from admin_sessions s where s.admin_id = a.id) end
from admins a where a.id = r.admin_id;

-- Links of the previous version set a password, so one made by a community opened all communities of the person: they
-- end. People who were invited and never came in get an invitation that an owner must renew to get its link.
with pending as materialized (
  select l.admin_id, max(l.expires_at) as expires_at
  from admin_links l join admins a on a.id = l.admin_id
  where l.purpose = 'invitation' and a.password_one_time
    and not exists (select from admin_sessions s where s.admin_id = a.id)
    and not exists (select from admin_requests q where q.admin_id = a.id)
  group by l.admin_id
), ended as (
  delete from admin_links where purpose in ('invitation', 'reset')
), offered as (
  insert into admin_invitations (community_id, id, token_hash, email, name, role, expires_at)
  select r.community_id, (random() * 2 ^ 47)::int8 + 1, sha256(gen_random_uuid()::text::bytea), r.email, r.name, r.role,
    p.expires_at
  from pending p join community_admins r on r.admin_id = p.admin_id
), withdrawn as (
  delete from community_admins r using pending p where r.admin_id = p.admin_id
)
delete from admins a using pending p where a.id = p.admin_id;

-- Attempts within a window, by the hash of what is counted. Shared by all processes; not worth a write to the log.
create unlogged table attempt_counts (
  key bytea primary key,
  count int4 not null,
  ends_at timestamptz not null
) with (fillfactor = 50);
create index attempt_counts_end on attempt_counts (ends_at);

-- Browsers from which a person has signed in. Guesses from elsewhere do not lock these out.
create table admin_browsers (
  admin_id int8 not null references admins,
  token_hash bytea not null,
  last_used_at timestamptz not null default now(),
  primary key (admin_id, token_hash)
);
create index admin_browsers_token on admin_browsers (token_hash);
create index admin_browsers_age on admin_browsers (last_used_at);
