-- A reader that follows updated_since must not skip a change that commits late. Until now the horizon was the start of
-- the oldest transaction with an id. But a row is stamped before its transaction has an id, so a reader that asked in
-- between skipped the row; and on Citus the transaction that writes is another server's (decision 27).

-- The time of a change: every statement that sets members.updated_at, listings.updated_at or removals.removed_at takes it
-- from here. The lock is held until the change is committed and keeps sync_horizon() behind the time. It is shared, so
-- writers do not wait for each other; communities whose ids are equal modulo 2^31 - 1 only hold back each other's readers.
create function stamp_change(community int8) returns timestamptz language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(4711010, (community % 2147483647)::int4);
  return clock_timestamp();
end
$$;

-- No change of the community that is not yet committed has a time before this. Ask outside a transaction, in a statement
-- before the one that reads: a later snapshot then sees everything older.
create function sync_horizon(community int8) returns timestamptz language plpgsql volatile as $$
declare
  -- Read before looking: a writer that takes the lock after the look gets a later time than this.
  asked timestamptz := clock_timestamp();
begin
  return least(asked, (
    select min(xact_start) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and (
      pid in (
        select pid from pg_locks
        where locktype = 'advisory' and classid = 4711010 and objid = (community % 2147483647)::oid and objsubid = 2
          and database = (select oid from pg_database where datname = current_database()))
      -- Nodes of the previous version, which may still run, do not take the lock. A later release drops this line, and
      -- the sync_horizon() without a community that such nodes ask.
      or backend_xid is not null)));
end
$$;
