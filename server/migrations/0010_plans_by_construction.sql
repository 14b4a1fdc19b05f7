-- A plan must not depend on what the planner happens to know of one community. With statistics of community_id, a
-- community that is newer than they are is taken for a single row, and every index that begins with community_id for
-- equally good: lists and look-ups then read the whole community through an index made for something else. Without
-- them, every community is taken for a two-hundredth of its table, which is enough for the index that fits to win,
-- whether the table was analyzed or not (docs/decisions/0014).
do $$
declare
  place record;
begin
  for place in
    select c.oid, c.oid::regclass as name, a.attnum
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
      and a.attname = 'community_id' and not a.attisdropped
  loop
    execute format('alter table %s alter column community_id set statistics 0', place.name);
    -- What was gathered before stays until the next major version unless a superuser may remove it.
    begin
      delete from pg_statistic where starelid = place.oid and staattnum = place.attnum;
    exception when insufficient_privilege then null;
    end;
  end loop;
end
$$;

-- Begins with what is looked up by it: a page of removals of one type took it for the index of its order.
alter table removals drop constraint removals_resource_key,
  add constraint removals_resource_key unique (community_id, resource_id, type);
