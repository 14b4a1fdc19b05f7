import { inject } from 'vitest'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { distribute } from '../src/postgres/cluster/distribute.ts'

/** Few, because a copy of the template has a file for each table, index and shard. */
const TEST_SHARDS = 4

/** Whether the tests run on a Citus cluster. */
export const isCluster = () => inject('nodeUrls').length > 1

/** The addresses of all nodes of a Citus cluster, its coordinator first; just the given one for any other server. */
export async function findNodes(url: string): Promise<string[]> {
  return withDatabase(url, async (sql) => {
    const [citus] = await sql`select 1 from pg_extension where extname = 'citus'`
    if (!citus) return [url]
    const nodes = await sql<{ host: string; port: number }[]>`
      select nodename as host, nodeport as port from pg_dist_node order by groupid`
    return nodes.map(({ host, port }) => {
      const node = new URL(url)
      node.hostname = host
      node.port = `${port}`
      return node.href
    })
  })
}

/** Registers the nodes in this database, which exists on all of them and is empty. */
export async function joinNodes(nodes: string[]): Promise<void> {
  for (const node of nodes) await withDatabase(node, (sql) => sql`create extension citus`)
  const [coordinator, ...workers] = nodes
  await withDatabase(coordinator!, async (sql) => {
    const { hostname, port } = new URL(coordinator!)
    await sql`select citus_set_coordinator_host(${hostname}, ${Number(port)})`
    for (const worker of workers) await addNode(sql, worker)
  })
}

export async function addNode(sql: Sql, node: string): Promise<void> {
  const { hostname, port } = new URL(node)
  await sql`select citus_add_node(${hostname}, ${Number(port)})`
}

export async function distributeForTests(sql: Sql): Promise<void> {
  await distribute(sql, TEST_SHARDS, () => {})
}

/** Lets a database be copied: Citus keeps a background process in each, which returns with the next connection. */
export async function closeDatabase(serverUrl: string, name: string): Promise<void> {
  await withDatabase(serverUrl, async (sql) => {
    await sql.unsafe(`alter database ${name} with allow_connections false`)
    for (;;) {
      const ended = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
      if (ended.length === 0) return
    }
  })
}

export async function withDatabase<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(url, { connectionsMax: 1, name: 'test' })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}
