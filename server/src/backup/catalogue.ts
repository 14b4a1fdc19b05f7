import type { Partition, SequenceEntry } from './backup-format.ts'
import type { Queries } from '../postgres/connect.ts'
import { quoteName } from '../postgres/statement.ts'

export interface Table {
  name: string
  columns: string[]
  references: string[]
  partitions: Partition[]
  /** Rows, roughly; 0 where PostgreSQL has not counted yet. */
  estimate: number
}

/** All tables but the list of migrations. Partitions are part of their table; generated columns generate themselves. */
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

/** Each table after those it refers to; alphabetical otherwise. */
export function inOrderOfReference(tables: Table[]): Table[] {
  const ordered: Table[] = []
  let waiting = tables
  while (waiting.length > 0) {
    const next = waiting.find((table) => !waiting.some((other) => other !== table && refers(table, other)))
    if (!next) throw new Error(describeCircle(waiting))
    ordered.push(next)
    waiting = waiting.filter((table) => table !== next)
  }
  return ordered
}

function refers(table: Table, other: Table): boolean {
  return table.references.includes(other.name)
}

/** Each of these refers to another one of them, so following the references comes round. */
function describeCircle(tables: Table[]): string {
  const path: Table[] = []
  let at = tables[0]!
  while (!path.includes(at)) {
    path.push(at)
    at = tables.find((other) => refers(at, other))!
  }
  const names = path.slice(path.indexOf(at)).map(({ name }) => name)
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

/** The text of a value depends on these, and a role or a database may carry others. */
export async function fixSettings(tx: Queries): Promise<void> {
  await tx.unsafe(`
    set local search_path = public;
    set local datestyle = 'ISO, MDY';
    set local intervalstyle = 'postgres';
    set local timezone = 'UTC';
    set local extra_float_digits = 3;
    set local bytea_output = 'hex';
    set local row_security = off; -- an error instead of rows that are silently missing
    set local statement_timeout = 0;
    set local lock_timeout = 0;
    set local idle_in_transaction_session_timeout = 0`)
}

/** As a query, because `set` fails on the versions before 17, which have no such setting. */
export async function withoutTimeLimit(tx: Queries): Promise<void> {
  await tx`select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'`
}
