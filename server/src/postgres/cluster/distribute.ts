import type { Progress } from '../../core/progress.ts'
import { Refusal } from '../../core/refusal.ts'
import { transaction, type Queries, type Sql } from '../connect.ts'
import { lockMigrations } from '../migrate.ts'
import { quoteName } from '../statement.ts'
import { requireCoordinator } from './coordinator.ts'
import { listPlacements, type Placement } from './placements.ts'

export const SHARDS_DEFAULT = 32
export const SHARDS_MAX = 1024

/** Its shards decide where the others are: all tables of a community are on the same node. */
const FIRST_TABLE = 'partners'

export interface Distributed {
  /** The tables that were changed, in order. Empty if there was nothing to do. */
  tables: string[]
  rows: number
}

/**
 * Distributes the tables of communities by community_id, and replicates those that every community refers to. Completely
 * or not at all: one transaction. Run again after an upgrade, it distributes the tables that were added.
 */
export async function distribute(
  sql: Sql,
  shards: number,
  onProgress: (progress: Progress) => void,
): Promise<Distributed> {
  await requireCoordinator(sql)
  return transaction(sql, async (tx) => {
    await lockMigrations(tx)
    // An upgrade may have replaced them.
    await resetPlans(tx)
    const missing = (await listPlacements(tx)).filter(({ wanted, actual }) => wanted !== 'local' && wanted !== actual)
    if (missing.length === 0) return { tables: [], rows: 0 }
    await requireNoService(tx)
    // Otherwise Citus refuses a reference table and the tables that refer to it in one transaction.
    await tx`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`
    const total = missing.reduce((sum, { rows }) => sum + rows, 0)
    let rows = 0
    const report = (label: string) => onProgress({ done: rows, total, label })

    report('foreign keys and triggers')
    const foreignKeys = await dropForeignKeys(tx)
    await dropTriggers(tx)
    await copyFunctions(tx)
    for (const table of inOrder(missing)) {
      report(table.name)
      await place(tx, table, shards)
      rows += table.rows
    }
    report('foreign keys')
    for (const foreignKey of foreignKeys) await addForeignKey(tx, foreignKey)
    return { tables: missing.map(({ name }) => name), rows }
  })
}

/** Statements of a running service would wait for the whole copy, and its prepared plans are for other tables. */
async function requireNoService(tx: Queries): Promise<void> {
  const sessions = await tx<{ name: string }[]>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and application_name like 'hourbank %' and application_name <> 'hourbank command'
      and pid <> pg_backend_pid()
    order by 1`
  if (sessions.length === 0) return
  throw new Refusal('The service is running. Stop it on all nodes, distribute the database, and start it again.')
}

/** Reference tables first, because foreign keys point to them; then the one whose shards the others follow. */
function inOrder(placements: Placement[]): Placement[] {
  return placements.toSorted((one, other) => rankOf(one) - rankOf(other))
}

function rankOf({ name, wanted }: Placement): number {
  if (wanted === 'reference') return 0
  return name === FIRST_TABLE ? 1 : 2
}

async function place(tx: Queries, { name, wanted }: Placement, shards: number): Promise<void> {
  if (wanted === 'reference') await tx`select create_reference_table(${name}::regclass)`
  else if (name === FIRST_TABLE) {
    await tx`select create_distributed_table(${name}::regclass, 'community_id', shard_count => ${shards}, colocate_with => 'none')`
  } else {
    await tx`select create_distributed_table(${name}::regclass, 'community_id', colocate_with => ${FIRST_TABLE})`
  }
  // The rows are in the shards now; without this, the coordinator keeps its copy.
  await tx`select truncate_local_data_after_distributing_table(${name}::regclass)`
}

interface ForeignKey {
  table: string
  name: string
  definition: string
  cascades: boolean
}

/** Tables can only be distributed without them, unless those that they refer to already are. */
async function dropForeignKeys(tx: Queries): Promise<ForeignKey[]> {
  const foreignKeys = await tx<ForeignKey[]>`
    select c.relname as table, f.conname as name, pg_get_constraintdef(f.oid) as definition,
      f.confupdtype = 'c' as cascades
    from pg_constraint f join pg_class c on c.oid = f.conrelid
    where f.contype = 'f' and f.connamespace = 'public'::regnamespace and f.conparentid = 0 and not c.relispartition
    order by c.relname, f.conname`
  for (const { table, name } of foreignKeys) {
    await tx.unsafe(`alter table ${quoteName(table)} drop constraint ${quoteName(name)}`)
  }
  return foreignKeys
}

/** Citus does not support a foreign key that follows updates. Renaming a category updates its listings by itself. */
async function addForeignKey(tx: Queries, { table, name, definition, cascades }: ForeignKey): Promise<void> {
  if (cascades) return
  await tx.unsafe(`alter table ${quoteName(table)} add constraint ${quoteName(name)} ${definition}`)
}

/** They serve nodes of earlier versions, which cannot run on Citus, and Citus does not support triggers on shards. */
async function dropTriggers(tx: Queries): Promise<void> {
  const triggers = await tx<{ table: string; name: string }[]>`
    select c.relname as table, t.tgname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and t.tgparentid = 0 and c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`
  for (const { table, name } of triggers) {
    await tx.unsafe(`drop trigger ${quoteName(name)} on ${quoteName(table)}`)
  }
}

/** Citus has to know the community when it plans a statement, so a function cannot insist on generic plans. */
async function resetPlans(tx: Queries): Promise<void> {
  const functions = await tx<{ signature: string }[]>`
    select oid::regprocedure::text as signature from pg_proc
    where pronamespace = 'public'::regnamespace
      and exists (select 1 from unnest(proconfig) as c(setting) where starts_with(setting, 'plan_cache_mode='))`
  for (const { signature } of functions) await tx.unsafe(`alter function ${signature} reset plan_cache_mode`)
}

/** Statements that a worker runs as a whole may call them. */
async function copyFunctions(tx: Queries): Promise<void> {
  await tx`
    select create_distributed_function(p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype and p.prokind = 'f'
      and not exists (
        select 1 from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`
}
