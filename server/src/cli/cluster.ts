import { Refusal } from '../core/refusal.ts'
import { distribute, SHARDS_DEFAULT, SHARDS_MAX } from '../postgres/cluster/distribute.ts'
import { rebalance } from '../postgres/cluster/rebalance.ts'
import { readClusterStatus, type ClusterStatus } from '../postgres/cluster/status.ts'
import { isMigrated } from '../postgres/migrate.ts'
import type { Sql } from '../postgres/connect.ts'
import { optionalNumber, print, printJson, withOwner, type Command, type CommandInput } from './command.ts'
import { showProgress } from './show-progress.ts'

export const clusterCommands: Command[] = [
  {
    name: 'cluster distribute',
    usage: '[--shards N]',
    summary: `Distribute the database over the nodes of a Citus cluster, by community (--shards: into how many parts, ${SHARDS_DEFAULT} unless told); stop the service first. After an upgrade: distribute the tables that it added`,
    run: ({ config, values }) =>
      withOwner(config, async (sql) => {
        const shards = readShards(values)
        await requireTables(sql)
        const progress = showProgress('Distributing')
        const { tables, rows } = await distribute(sql, shards, progress).finally(() => progress.done())
        print(
          tables.length === 0
            ? 'All tables are distributed already.'
            : `Distributed ${tables.length} tables with about ${rows} rows.`,
        )
      }),
  },
  {
    name: 'cluster status',
    usage: '[--json]',
    summary: 'Show the nodes of the cluster, their shards and sizes',
    run: ({ config, values }) =>
      withOwner(config, async (sql) => {
        await requireTables(sql)
        const status = await readClusterStatus(sql)
        if (values.json) printJson(status)
        else printStatus(status)
      }),
  },
  {
    name: 'cluster rebalance',
    usage: '',
    summary: 'Move shards to nodes that were added, while the service runs',
    run: ({ config }) =>
      withOwner(config, async (sql) => {
        await requireTables(sql)
        const progress = showProgress('Rebalancing')
        const moves = await rebalance(sql, progress).finally(() => progress.done())
        print(moves === 0 ? 'The nodes have equally many shards already.' : `Moved shards in ${moves} steps.`)
      }),
  },
]

async function requireTables(sql: Sql): Promise<void> {
  if (!(await isMigrated(sql))) throw new Refusal('The database is not up to date. Run: npx hourbank migrate')
}

function readShards(values: CommandInput['values']): number {
  const shards = optionalNumber(values, 'shards') ?? SHARDS_DEFAULT
  if (Number.isInteger(shards) && shards >= 1 && shards <= SHARDS_MAX) return shards
  throw new Refusal(`--shards must be a whole number from 1 to ${SHARDS_MAX}.`)
}

function printStatus({ citus, distributed, missing, shards, nodes }: ClusterStatus): void {
  print(`Citus ${citus}, ${shards} shards on ${nodes.filter((node) => node.shards > 0).length} nodes.`)
  for (const node of nodes) {
    const state = node.active ? '' : ', not active'
    const size = `${(node.bytes / 1_000_000).toFixed(1)} MB`
    print(`  ${node.host}:${node.port}  ${node.role}  ${node.shards} shards  ${size}${state}`)
  }
  if (!distributed) print('Nothing is distributed yet. Run: npx hourbank cluster distribute')
  else if (missing.length > 0) {
    print(`Not distributed yet: ${missing.join(', ')}. Run: npx hourbank cluster distribute`)
  }
}
