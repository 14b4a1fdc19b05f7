-- A client authenticates by a secret, by up to two registered public keys, or by the keys published at an address
-- (RFC 7523). Clients with keys have a random secret_hash that matches no secret: nodes of the previous version know
-- nothing else.
alter table clients
  add column authentication text not null default 'secret',
  add column jwks_url text,
  add column jwks_url_set_at timestamptz,
  add constraint clients_authentication_check check (authentication in ('secret', 'keys', 'jwks')),
  add constraint clients_jwks_url_check
    check ((authentication = 'jwks') = (jwks_url is not null and jwks_url_set_at is not null));

create table client_keys (
  community_id int8 not null,
  client_id int8 not null,
  -- RFC 7638, with SHA-256.
  thumbprint text not null,
  jwk jsonb not null,
  created_at timestamptz not null default now(),
  primary key (community_id, client_id, thumbprint),
  foreign key (community_id, client_id) references clients on delete cascade
);

-- Accepted assertions: each is accepted once, on whichever node.
create table client_assertions (
  community_id int8 not null,
  client_id int8 not null,
  -- SHA-256 of the jti, which may have any length.
  jti_hash bytea not null,
  expires_at timestamptz not null,
  primary key (community_id, client_id, jti_hash),
  foreign key (community_id, client_id) references clients on delete cascade
);
create index client_assertions_expiry on client_assertions (expires_at);
