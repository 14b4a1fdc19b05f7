import type { Queries } from '../connect.ts'

/**
 * Statements on a community's tables join these, so each node has a copy. They are rarely written: that is a two-phase
 * commit on all nodes.
 */
const REFERENCE_TABLES = ['communities', 'admins', 'admin_apps', 'admin_passkeys']

export type Kind = 'distributed' | 'reference' | 'local'

/** Where a table should be, and where it is. */
export interface Placement {
  name: string
  wanted: Kind
  actual: Kind
  /** An estimate. */
  rows: number
}

/** Lists all tables of Hourbank. Those without a community, such as sessions, stay on the coordinator. */
export async function listPlacements(sql: Queries): Promise<Placement[]> {
  return sql<Placement[]>`
    select c.relname::text as name,
      case when c.relname = any (${REFERENCE_TABLES}::text[]) then 'reference'
        when exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'community_id')
        then 'distributed' else 'local' end as wanted,
      case p.partmethod when 'h' then 'distributed' when 'n' then case p.repmodel when 't' then 'reference' else 'local' end
        else 'local' end as actual,
      (select coalesce(sum(greatest(l.reltuples, pg_stat_get_live_tuples(l.oid), 0)), 0)::int8
       from pg_class l
       where case when c.relkind = 'p'
         then l.oid in (select t.relid from pg_partition_tree(c.oid) t where t.isleaf) else l.oid = c.oid end) as rows
    from pg_class c left join pg_dist_partition p on p.logicalrelid = c.oid
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
      and not exists (
        select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by c.relname`
}
