-- When the mail about an alert is due: at once, or after the lease of the process that is sending it. Null: there is
-- nothing to mail (any more). Nodes of the previous version leave it null and mail what they raise themselves
-- (docs/decisions/0033).
alter table alerts add column mail_due_at timestamptz;
create index alerts_to_mail on alerts (raised_at) where mail_due_at is not null;

alter table operator_runs add column mail_due_at timestamptz,
  -- What the mail says.
  add column detail jsonb not null default '{}';
