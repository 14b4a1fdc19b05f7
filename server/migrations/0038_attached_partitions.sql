-- Creates a partition as a table of its own and attaches it. On Citus, a table that is already a distributed partition
-- cannot be altered, so community_id gets its statistics target before.
create or replace function create_week_partition(parent text, first_day date) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  partition text := parent || '_' || to_char(first_day, 'YYYYMMDD');
begin
  if parent is null or parent not in ('call_groups', 'events', 'attempts') or extract(isodow from first_day) <> 1 then
    raise exception 'not a weekly partition: % %', parent, first_day;
  end if;
  execute format('create table public.%I (like public.%I including defaults including generated including constraints)',
    partition, parent);
  -- Migration 0010 sets this for all tables, but partitions do not inherit it.
  execute format('alter table public.%I alter column community_id set statistics 0', partition);
  execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)', parent, partition,
    first_day || 'T00:00Z', first_day + 7 || 'T00:00Z');
end
$$;
