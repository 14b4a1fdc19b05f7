-- Most deliveries are answered well at once. Their attempt stands in their own row: a row of its own, with two indexes,
-- took PostgreSQL nearly as long as all the rest of a completion (docs/decisions/0014). Of the latest success; those
-- before it, and all failures, are rows of attempts.
alter table deliveries
  add column success_at timestamptz,
  add column success_number int4,
  add column success_duration_ms int4,
  add column success_status int4,
  add column success_response text;

create view delivery_attempts as
select community_id, delivery_id, at, id, number, duration_ms, status, error_kind, error, response from attempts
union all
select community_id, id, success_at, null, success_number, success_duration_ms, success_status, null, null,
  success_response
from deliveries where success_at is not null;
