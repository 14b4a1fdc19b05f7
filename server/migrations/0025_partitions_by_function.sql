-- Creating and dropping a table needs its owner, and the role of the service owns nothing. It may call these functions
-- instead, which run as their owner and only ever touch the weekly partitions.
create function create_week_partition(parent text, first_day date) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  partition text := parent || '_' || to_char(first_day, 'YYYYMMDD');
begin
  if parent is null or parent not in ('call_groups', 'events', 'attempts') or extract(isodow from first_day) <> 1 then
    raise exception 'not a weekly partition: % %', parent, first_day;
  end if;
  execute format('create table public.%I partition of public.%I for values from (%L) to (%L)', partition, parent,
    first_day || 'T00:00Z', first_day + 7 || 'T00:00Z');
  -- Migration 0010 sets this for all tables, but partitions do not inherit it.
  execute format('alter table public.%I alter column community_id set statistics 0', partition);
end
$$;

create function drop_week_partition(partition text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if to_regclass(format('public.%I', partition)) is null then
    return;
  end if;
  if not exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where c.oid = to_regclass(format('public.%I', partition)) and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'
      and i.inhparent in ('public.call_groups'::regclass, 'public.events'::regclass, 'public.attempts'::regclass)) then
    raise exception 'not a weekly partition: %', partition;
  end if;
  execute format('drop table public.%I', partition);
end
$$;

revoke execute on function create_week_partition(text, date), drop_week_partition(text) from public;
