-- A one-time password works once and for a day. Those that exist get a day from now.
alter table admins add column one_time_until timestamptz, add column one_time_used_at timestamptz;
update admins set one_time_until = now() + interval '1 day' where password_one_time;
