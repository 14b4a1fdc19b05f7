-- If one partner makes all transfers of a table, the planner takes every account for one with as many, and reads the whole
-- community to find those of one wallet. An account has about a hundred here, as far as the planner is concerned. On Citus,
-- which cannot store this for a distributed table, the guess stays that of the statistics.
do $$
begin
  if not exists (select from pg_extension where extname = 'citus') then
    alter table transfers alter column debit_account_id set (n_distinct = -0.01);
    alter table transfers alter column credit_account_id set (n_distinct = -0.01);
  end if;
end
$$;
