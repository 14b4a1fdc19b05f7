import type { Queries } from '../connect.ts'
import { requireCoordinator } from './coordinator.ts'
import { listPlacements } from './placements.ts'

export interface ClusterNode {
  host: string
  port: number
  role: 'coordinator' | 'worker'
  active: boolean
  /** Whether rebalancing moves shards here. */
  stores_shards: boolean
  /** Groups of shards; each holds the rows of some communities in all tables. */
  shards: number
  bytes: number
}

export interface ClusterStatus {
  citus: string
  distributed: boolean
  /** Tables of communities, and tables copied to each node, which are not yet where they belong. */
  missing: string[]
  shards: number
  nodes: ClusterNode[]
}

export async function readClusterStatus(sql: Queries): Promise<ClusterStatus> {
  const { version } = await requireCoordinator(sql)
  const placements = await listPlacements(sql)
  const nodes = await sql<ClusterNode[]>`
    select n.nodename as host, n.nodeport as port, case n.groupid when 0 then 'coordinator' else 'worker' end as role,
      n.isactive as active, n.shouldhaveshards as stores_shards, coalesce(s.shards, 0)::int4 as shards,
      coalesce(s.bytes, 0)::int8 as bytes
    from pg_dist_node n left join (
      select nodename, nodeport, count(*) filter (where table_name = 'partners'::regclass) as shards,
        sum(shard_size) as bytes
      from citus_shards group by 1, 2
    ) s using (nodename, nodeport)
    where n.noderole = 'primary' order by n.groupid`
  return {
    citus: version,
    distributed: placements.some(({ actual }) => actual === 'distributed'),
    missing: placements.filter(({ wanted, actual }) => wanted !== 'local' && wanted !== actual).map(({ name }) => name),
    shards: nodes.reduce((sum, { shards }) => sum + shards, 0),
    nodes,
  }
}
