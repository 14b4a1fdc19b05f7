-- The time of a balance never goes back. A transaction that began earlier may change a wallet later, and the wallet then
-- got the time of the earlier one. The function of migration 0054 changes in this one line.
do $$
declare
  definition text := pg_get_functiondef(
    'insert_credits(int8, int8[], int8[], int8[], int8[], text[], text[], date[])'::regprocedure);
  changed text := replace(definition, 'updated_at = made_at', 'updated_at = greatest(a.updated_at, made_at)');
begin
  if changed = definition then
    raise exception 'insert_credits is not the function of migration 0054';
  end if;
  execute changed;
end
$$;
