import { readdir } from 'node:fs/promises'
import { percentile } from './figures.ts'
import type { Arrived } from './load/arrivals.ts'
import { residentBytes, type Service } from './service.ts'

const MEBIBYTE = 2 ** 20

/** What is watched, with its unit. Each is a line of the chart. */
export const WATCHED = {
  residentMb: 'memory of the service, MB',
  heapMb: 'its JavaScript heap, MB',
  handles: 'its open handles',
  files: 'its open files and sockets',
  connections: 'connections to the database',
  tableMb: 'tables, MB',
  indexMb: 'indexes, MB',
  deadRows: 'dead rows, thousands',
  p95Ms: 'latency of calls, 95th percentile, ms',
} as const
export type Sample = Record<keyof typeof WATCHED, number>

/** Between two batches of calls, so that calls in flight are not counted. */
export async function takeSample(service: Service, arrived: Arrived): Promise<Sample> {
  const metrics = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text()
  const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1])
  const [database] = await service.sql<[{ connections: number; tables: number; indexes: number; dead: number }]>`
    select (select count(*) from pg_stat_activity where datname = current_database()) as connections,
      sum(pg_table_size(relid))::int8 as tables, sum(pg_indexes_size(relid))::int8 as indexes,
      sum(n_dead_tup)::int8 as dead
    from pg_stat_user_tables`
  return {
    residentMb: ((await residentBytes(service.pid)) ?? 0) / MEBIBYTE,
    heapMb: metric('nodejs_heap_size_used_bytes') / MEBIBYTE,
    handles: metric('nodejs_active_handles_total'),
    files: (await readdir(`/proc/${service.pid}/fd`)).length,
    connections: database.connections,
    tableMb: database.tables / MEBIBYTE,
    indexMb: database.indexes / MEBIBYTE,
    deadRows: database.dead / 1000,
    p95Ms: percentile(arrived.tookMs.toSorted(), 0.95),
  }
}

/** The table with the largest share of dead rows, among those that are large enough for autovacuum to care. */
export async function worstDeadShare(service: Service): Promise<{ table: string; share: number }> {
  const [row] = await service.sql<{ table: string; share: number }[]>`
    select relname as "table", (n_dead_tup::float8 / greatest(n_live_tup, 1)) as share
    from pg_stat_user_tables where n_live_tup + n_dead_tup > 5000 order by 2 desc limit 1`
  return row ?? { table: 'none', share: 0 }
}
