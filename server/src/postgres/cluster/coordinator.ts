import { Refusal } from '../../core/refusal.ts'
import type { Queries } from '../connect.ts'

/** Earlier ones insert nothing, without an error, in a join of a replicated table with values (Citus issue 8243). */
const VERSION_MIN = [13, 2, 1] as const

export interface Coordinator {
  /** The version of Citus. */
  version: string
}

/** Rejects a server without Citus, a worker, and a coordinator that has no nodes to store shards. */
export async function requireCoordinator(sql: Queries): Promise<Coordinator> {
  const version = await citusVersion(sql)
  if (version === undefined) {
    throw new Refusal(
      'This database does not use Citus. Install Citus on the server, and run once in this database, as a superuser: ' +
        'create extension citus',
    )
  }
  if (!isAtLeast(version, VERSION_MIN)) {
    throw new Refusal(
      `This is Citus ${version}, which loses rows in some statements. Upgrade it to ${VERSION_MIN.join('.')} or later.`,
    )
  }
  const [node] = await sql<[{ is_coordinator: boolean; is_known: boolean; stores_shards: boolean }]>`
    select (select groupid = 0 from pg_dist_local_group) as is_coordinator,
      exists (select 1 from pg_dist_node where groupid = 0) as is_known,
      exists (select 1 from pg_dist_node where isactive and shouldhaveshards and noderole = 'primary') as stores_shards`
  if (!node.is_coordinator) throw new Refusal('This server is a worker. Let DATABASE_URL name the coordinator.')
  if (!node.is_known) {
    throw new Refusal(
      "The workers do not know this coordinator yet. Run once, as a superuser: select citus_set_coordinator_host('HOST', PORT)",
    )
  }
  if (!node.stores_shards) {
    throw new Refusal(
      "No node stores shards yet. Add at least one, as a superuser: select citus_add_node('HOST', PORT)",
    )
  }
  return { version }
}

/** The extension's own version has no third part. */
async function citusVersion(sql: Queries): Promise<string | undefined> {
  const [extension] = await sql`select 1 from pg_extension where extname = 'citus'`
  if (!extension) return undefined
  const [row] = await sql<[{ version: string }]>`select citus_version() as version`
  return /\d+\.\d+\.\d+/.exec(row.version)?.[0] ?? row.version
}

function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split('.').map(Number)
  const at = least.findIndex((part, index) => parts[index] !== part)
  return at === -1 || parts[at]! > least[at]!
}
