-- Calls that differ only in their moment, their path and how long they took share a row with others of their second:
-- a row for each call cost PostgreSQL more than most calls cost the service (docs/decisions/0014).
alter table call_log rename to call_log_rows;

create table call_groups (
  community_id int8 not null,
  -- The second in which all of its calls began, so that what is sorted by it is in the order of their moments too.
  second_at timestamptz not null check (second_at = date_trunc('second', second_at)),
  -- The first call's: a batch that is written again is known by it.
  id uuid not null,
  partner_id int8,
  client_id int8,
  method text not null,
  route text,
  status int2 not null,
  error text,
  error_description text,
  address inet,
  user_agent text,
  calls int4 not null check (calls = cardinality(request_ids) and calls = cardinality(after_ms)
    and calls = cardinality(durations_ms) and (paths is null or calls = cardinality(paths))),
  after_ms int2[] not null,
  request_ids uuid[] not null,
  durations_ms float4[] not null,
  -- Without, each path is the route.
  paths text[],
  check (paths is not null or route is not null),
  primary key (community_id, second_at, id)
) partition by range (second_at);
-- As random as can be: to try to compress them is in vain.
alter table call_groups alter column request_ids set storage external;
create table call_groups_default partition of call_groups default;
create index call_groups_partner on call_groups (community_id, partner_id, second_at);
create index call_groups_errors on call_groups (community_id, second_at) where status >= 400;

-- For each week that there is; as migration 0010 has it for all tables.
do $$
declare
  week record;
begin
  for week in
    select replace(c.relname, 'call_log', 'call_groups') as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'call_log_rows'::regclass and c.relname <> 'call_log_default'
  loop
    execute format('create table %I partition of call_groups %s', week.name, week.bound);
  end loop;
  for week in select inhrelid::regclass as name from pg_inherits where inhparent = 'call_groups'::regclass loop
    execute format('alter table %s alter column community_id set statistics 0', week.name);
  end loop;
  alter table call_groups alter column community_id set statistics 0;
end
$$;

insert into call_groups (community_id, second_at, id, partner_id, client_id, method, route, status, error,
  error_description, address, user_agent, calls, after_ms, request_ids, durations_ms, paths)
select community_id, second_at, (array_agg(request_id order by at, request_id))[1], partner_id, client_id, method, route,
  status, error, error_description, address, user_agent, count(*), array_agg(after_ms order by at, request_id),
  array_agg(request_id order by at, request_id), array_agg(duration_ms order by at, request_id),
  case when not is_route then array_agg(path order by at, request_id) end
from (
  select *, date_trunc('second', at) as second_at, route is not null and path = route as is_route,
    floor(extract(milliseconds from at))::int4 % 1000 as after_ms
  from call_log_rows
) rows
group by community_id, second_at, partner_id, client_id, method, route, is_route, status, error, error_description,
  address, user_agent;
drop table call_log_rows;

-- One row for each call, for reading. Whoever reads in order begins with second_at, and need not sort everything;
-- whoever looks for an id or a path looks into the whole group first.
create view call_log as
select g.community_id, g.second_at, g.second_at + c.after_ms * interval '1 millisecond' as at, c.request_id, g.partner_id,
  g.client_id, g.method, coalesce(c.path, g.route) as path, g.route, g.status, g.error, g.error_description,
  c.duration_ms, g.address, g.user_agent, g.request_ids, g.paths
from call_groups g
cross join lateral unnest(g.after_ms, g.request_ids, g.durations_ms, g.paths)
  as c(after_ms, request_id, duration_ms, path);

-- Nodes of the version before go on writing call by call while they are upgraded one after the other.
create function insert_into_call_log() returns trigger language plpgsql as $$
begin
  insert into call_groups (community_id, second_at, id, partner_id, client_id, method, route, status, error,
    error_description, address, user_agent, calls, after_ms, request_ids, durations_ms, paths)
  values (new.community_id, date_trunc('second', new.at), new.request_id, new.partner_id, new.client_id, new.method,
    new.route, new.status, new.error, new.error_description, new.address, new.user_agent, 1,
    array[floor(extract(milliseconds from new.at))::int4 % 1000], array[new.request_id], array[new.duration_ms],
    case when new.path is distinct from new.route then array[new.path] end)
  on conflict do nothing;
  return new;
end
$$;
create trigger insert_into_call_log instead of insert on call_log
  for each row execute function insert_into_call_log();
