-- Authenticator apps of administrators. A person has at most one.
create table admin_apps (
  admin_id int8 primary key references admins,
  -- Encrypted with SECRET_KEY.
  secret bytea not null,
  -- The 30-second step of the last accepted code: each code works once.
  last_step int8 not null default 0,
  created_at timestamptz not null default now(),
  -- Null until a code has shown that the app is set up. Until then it counts for nothing.
  active_since timestamptz
);

create table admin_recovery_codes (
  admin_id int8 not null references admins,
  code_hash bytea not null,
  primary key (admin_id, code_hash)
);

-- Sign-ins with a correct password that still lack the second factor. Not a kind of session: nothing that looks for a
-- session, on a node of any version, can take one for it.
create table admin_second_steps (
  token_hash bytea primary key,
  admin_id int8 not null references admins,
  tries int2 not null default 0,
  expires_at timestamptz not null
);
create index admin_second_steps_admin on admin_second_steps (admin_id);

-- When the person last gave their password or second factor.
alter table admin_sessions add column proven_at timestamptz not null default now();
update admin_sessions set proven_at = created_at;

-- Whether administrators without a second factor are kept out of this community.
alter table communities add column second_factor_required boolean not null default false;
