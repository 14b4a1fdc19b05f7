-- What needs attention in a community, found without reading all of its members (docs/decisions/0033), and credentials
-- that end on a day.

-- Members at the limit are found by accounts_balance (0041).
create index accounts_idle on accounts (community_id, last_active_on) where kind = 'member' and active;

create index subscriptions_unhealthy on subscriptions (community_id)
  where status = 'disabled' or failing_since is not null;

-- From then on a client is rejected like one that is revoked.
alter table clients add column expires_at timestamptz;
create index clients_expiry on clients (expires_at) where status = 'active' and expires_at is not null;

-- When commands of the operator last succeeded and failed; one row for each kind.
create table operator_runs (
  kind text primary key check (kind in ('backup')),
  succeeded_at timestamptz,
  failed_at timestamptz,
  failure text
);
