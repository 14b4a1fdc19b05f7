-- Passkeys of administrators (WebAuthn): a second factor next to authenticator apps. A person has several.
create table admin_passkeys (
  -- Random, like the ids of administrators.
  id int8 primary key,
  admin_id int8 not null references admins,
  name text not null,
  credential_id bytea not null unique,
  -- As the authenticator gave it (COSE).
  public_key bytea not null,
  -- The number of signatures, if the authenticator counts them: a copied one falls behind.
  counter int8 not null,
  transports text[] not null,
  -- The host name that it was made for. Browsers offer it nowhere else.
  rp_id text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index admin_passkeys_admin on admin_passkeys (admin_id);

-- What a passkey has to sign next. It belongs to the session or to the sign-in that asked for it, and ends with it.
alter table admin_sessions add column challenge bytea, add column challenge_until timestamptz;
alter table admin_second_steps add column challenge bytea, add column challenge_until timestamptz;
