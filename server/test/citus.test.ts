import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { makeDemo } from '../src/demo/make-demo.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { distribute } from '../src/postgres/cluster/distribute.ts'
import { rebalance } from '../src/postgres/cluster/rebalance.ts'
import { readClusterStatus } from '../src/postgres/cluster/status.ts'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { createPartitions } from '../src/postgres/partitions.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { addNode, isCluster, joinNodes } from './citus-nodes.ts'
import { run, SECRET_KEY } from './commands.ts'
import { newClusterDatabase, newDatabase } from './database.ts'

const SHARDS = 4
const CREDITS_MIN = 20

describe.runIf(!isCluster())('without Citus', () => {
  test.each([['distribute'], ['status'], ['rebalance']])('cluster %s says what is missing', async (command) => {
    const settings = { DATABASE_URL: await newDatabase(), SECRET_KEY }
    const { code, stderr } = await run(['cluster', command], settings)
    expect(code).toBe(1)
    expect(stderr).toContain('This database does not use Citus.')
    expect(stderr).toContain('create extension citus')
  })
})

describe.runIf(isCluster())('on a Citus cluster', () => {
  test('a filled database is distributed without losing a row, and a second run changes nothing', async () => {
    const [url] = await clusterWithTables(inject('nodeUrls').length)
    const sql = connectForTest(url!)
    const { communityId } = await fill(sql)
    const before = await countRows(sql)

    const { tables } = await distribute(sql, SHARDS, () => {})

    expect(tables).toEqual(expect.arrayContaining(['communities', 'members', 'transfers', 'events']))
    expect(await countRows(sql)).toEqual(before)
    expect((await verifyLedger(sql, communityId, () => {})).differences).toEqual([])
    expect(await distribute(sql, SHARDS, () => {})).toEqual({ tables: [], rows: 0 })
    const status = await readClusterStatus(sql)
    expect(status).toMatchObject({ distributed: true, missing: [], shards: SHARDS })
    expect(status.nodes.filter(({ role }) => role === 'worker').map(({ shards }) => shards)).toEqual([2, 2])
  })

  test('after an upgrade has replaced the credit function, distributing again lets Citus choose its plans', async () => {
    const sql = connectForTest(await newDatabase())
    const settings = () => sql`select proconfig from pg_proc where proname = 'insert_credits'`
    const [{ signature }] = await sql<[{ signature: string }]>`
      select oid::regprocedure::text as signature from pg_proc where proname = 'insert_credits'`
    await sql.unsafe(`alter function ${signature} set plan_cache_mode = force_generic_plan`)
    expect(await settings()).toEqual([{ proconfig: ['plan_cache_mode=force_generic_plan'] }])
    expect(await distribute(sql, SHARDS, () => {})).toEqual({ tables: [], rows: 0 })
    expect(await settings()).toEqual([{ proconfig: null }])
  })

  test('a database that cannot be distributed is left as it was', async () => {
    const [url] = await clusterWithTables(inject('nodeUrls').length)
    const sql = connectForTest(url!)
    // Citus cannot keep ids unique across shards, and finds out when most tables are distributed already.
    await sql`create unique index unsupported on transfers (id)`
    const before = await readSchema(sql)
    await expect(distribute(sql, SHARDS, () => {})).rejects.toThrow()
    expect(await readSchema(sql)).toEqual(before)
    expect(await readClusterStatus(sql)).toMatchObject({ distributed: false })
  })

  test('distributing is rejected while the service runs', async () => {
    const [url] = await clusterWithTables(inject('nodeUrls').length)
    await startBank({ databaseUrl: url! })
    await expect(distribute(connectForTest(url!), SHARDS, () => {})).rejects.toThrow('The service is running.')
  })

  test('shards move to a new node while credits go on, and none is lost', async () => {
    const [url, , newNode] = await clusterWithTables(2)
    const sql = connectForTest(url!)
    await distribute(sql, SHARDS, () => {})
    const bank = await startBank({ databaseUrl: url! })
    await addNode(sql, newNode!)
    const moves: number[] = []

    const references = await creditUntil(bank, rebalanceWith(sql, moves))

    const nodes = (await readClusterStatus(sql)).nodes.filter(({ role }) => role === 'worker')
    expect(nodes.map(({ shards }) => shards)).toEqual([SHARDS / 2, SHARDS / 2])
    // One more copies the replicated tables to the new node.
    expect(moves.at(-1)).toBe(SHARDS / 2 + 1)
    const stored = await sql<{ reference: string }[]>`
      select reference from credits where community_id = ${bank.communityId}`
    expect(stored.map(({ reference }) => reference).toSorted()).toEqual(references.toSorted())
    expect((await verifyLedger(sql, bank.communityId, () => {})).differences).toEqual([])
    expect(await rebalance(sql, () => {})).toBe(0)
  })
})

/** A migrated database on all nodes, of which the first ones are registered. */
async function clusterWithTables(registered: number): Promise<string[]> {
  const urls = await newClusterDatabase()
  await joinNodes(urls.slice(0, registered))
  for (const url of urls.slice(registered)) {
    const sql = connect(url, { connectionsMax: 1, name: 'test' })
    await sql`create extension citus`.finally(() => sql.end())
  }
  const sql = connectForTest(urls[0]!)
  await migrate(sql)
  await createPartitions(sql)
  return urls
}

function connectForTest(url: string): Sql {
  const sql = connect(url, { connectionsMax: 2, name: 'command' })
  onTestFinished(() => sql.end())
  return sql
}

async function fill(sql: Sql): Promise<{ communityId: number }> {
  await makeDemo(sql, { members: 30 })
  const [community] = await sql<[{ id: number }]>`select id from communities`
  return { communityId: community.id }
}

async function countRows(sql: Sql): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await sql.unsafe<{ rows: number }[]>(`select count(*) as rows from "${name}"`)
    counts[name] = row!.rows
  }
  return counts
}

/** Constraints, triggers and where tables are. */
async function readSchema(sql: Sql): Promise<unknown> {
  return [
    await sql`select conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace order by 1`,
    await sql`select tgname from pg_trigger where not tgisinternal order by 1`,
    await sql`select logicalrelid::text from pg_dist_partition order by 1`,
  ]
}

async function rebalanceWith(sql: Sql, moves: number[]): Promise<void> {
  await rebalance(sql, ({ done }) => moves.push(done))
}

/** Credits one after the other until the work is done, and some more; returns the references that were acknowledged. */
async function creditUntil(bank: Bank, work: Promise<void>): Promise<string[]> {
  const token = await bank.token()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const progress = { isDone: false }
  const ended = work.finally(() => (progress.isDone = true))
  const references: string[] = []
  while (!progress.isDone || references.length < CREDITS_MIN) {
    const reference = `credit-${references.length}`
    const { status } = await bank.call('/wallet/credit', { token, body: { user_id: member.id, hours: 1, reference } })
    expect(status).toBe(201)
    references.push(reference)
  }
  await ended
  return references
}
