-- What administrators look at and hand out: communities made for a partner to try on, and the calls that were refused.

-- The community from which a test community was made: where its making and its removal are recorded. No foreign key:
-- a community that is gone leaves its test communities alone.
alter table communities add column test_of int8;

-- Refused calls are few among many, and they are what people look for.
create index call_log_errors on call_log (community_id, at) where status >= 400;
