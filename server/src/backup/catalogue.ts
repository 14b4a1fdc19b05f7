import type { Partition, SequenceEntry } from './backup-format.ts'
import type { Queries } from '../postgres/connect.ts'
import { quoteName } from '../postgres/statement.ts'

export interface Table {
  name: string
  columns: string[]
  references: string[]
  partitions: Partition[]
  /** An estimated row count; 0 if PostgreSQL has no statistics yet. */
  estimate: number
}

/** Lists all tables except schema_migrations. Partitions belong to their table, and generated columns are omitted. */
export async function listTables(sql: Queries): Promise<Table[]> {
  return sql<Table[]>`
    select c.relname::text as name,
      array(
        select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum) as columns,
      array(
        select distinct r.relname::text
        from pg_constraint f join pg_class r on r.oid = coalesce(pg_partition_root(f.confrelid), f.confrelid)
        where f.contype = 'f' and f.conparentid = 0 and coalesce(pg_partition_root(f.conrelid), f.conrelid) = c.oid
          and r.oid <> c.oid and r.relnamespace = c.relnamespace
        order by 1) as references,
      coalesce((
        select jsonb_agg(jsonb_build_object('name', p.relname, 'bound', pg_get_expr(p.relpartbound, p.oid))
          order by p.relname)
        from pg_inherits i join pg_class p on p.oid = i.inhrelid
        where i.inhparent = c.oid and p.relkind = 'r' and p.relnamespace = c.relnamespace), '[]') as partitions,
      (select coalesce(sum(greatest(l.reltuples, pg_stat_get_live_tuples(l.oid), 0)), 0)::float8
       from pg_class l
       where case when c.relkind = 'p'
         then l.oid in (select p.relid from pg_partition_tree(c.oid) p where p.isleaf) else l.oid = c.oid end) as estimate
    from pg_class c
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
      and c.relname <> 'schema_migrations'
      and not exists (
        select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by c.relname collate "C"`
}

/** Sorts each table after those it references, and alphabetically otherwise. */
export function sortByReferences(tables: Table[]): Table[] {
  const ordered: Table[] = []
  let waiting = tables
  while (waiting.length > 0) {
    const next = waiting.find((table) => !waiting.some((other) => other !== table && isReferencing(table, other)))
    if (!next) throw new Error(describeCycle(waiting))
    ordered.push(next)
    waiting = waiting.filter((table) => table !== next)
  }
  return ordered
}

function isReferencing(table: Table, other: Table): boolean {
  return table.references.includes(other.name)
}

/** Each of these tables references another one of them, so following the references must end in a cycle. */
function describeCycle(tables: Table[]): string {
  const path: Table[] = []
  let current = tables[0]!
  while (!path.includes(current)) {
    path.push(current)
    current = tables.find((other) => isReferencing(current, other))!
  }
  const names = path.slice(path.indexOf(current)).map(({ name }) => name)
  return `These tables refer to each other in a circle, so that none can be restored first: ${names.join(', ')}.`
}

export async function listSequences(sql: Queries): Promise<Omit<SequenceEntry, 'value'>[]> {
  return sql<Omit<SequenceEntry, 'value'>[]>`
    select s.relname::text as sequence, t.relname::text as table, a.attname::text as column
    from pg_class s
    left join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid
      and d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0 and d.deptype in ('a', 'i')
    left join pg_class t on t.oid = d.refobjid
    left join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where s.relkind = 'S' and s.relnamespace = 'public'::regnamespace
      and not exists (
        select from pg_depend e where e.classid = 'pg_class'::regclass and e.objid = s.oid and e.deptype = 'e')
    order by s.relname collate "C"`
}

export async function lastValue(sql: Queries, sequence: string): Promise<string> {
  const [row] = await sql.unsafe<{ value: string }[]>(`select last_value::text as value from ${publicName(sequence)}`)
  return row!.value
}

export function publicName(name: string): string {
  return `public.${quoteName(name)}`
}

/** These settings affect the text form of values, and a role or a database may override their defaults. */
export async function fixSettings(tx: Queries): Promise<void> {
  await tx.unsafe(`
    set local search_path = public;
    set local datestyle = 'ISO, MDY';
    set local intervalstyle = 'postgres';
    set local timezone = 'UTC';
    set local extra_float_digits = 3;
    set local bytea_output = 'hex';
    set local row_security = off; -- fail instead of silently omitting rows
    set local citus.max_adaptive_executor_pool_size = 1; -- one connection to each node has one snapshot
    set local statement_timeout = 0;
    set local lock_timeout = 0;
    set local idle_in_transaction_session_timeout = 0`)
}

/** A query, because `set` fails on versions before 17, which do not have this setting. */
export async function disableTransactionTimeout(tx: Queries): Promise<void> {
  await tx`select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'`
}
