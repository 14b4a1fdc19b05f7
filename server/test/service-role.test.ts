import { expect, onTestFinished, test } from 'vitest'
import { connect, transaction, type Sql } from '../src/postgres/connect.ts'
import { openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { createPartitions } from '../src/postgres/partitions.ts'
import { prune } from '../src/postgres/prune.ts'
import { addAdmin } from './admin.ts'
import { eventually, startBank } from './bank.ts'
import { isCluster } from './citus-nodes.ts'
import { hourbankWith, serveEmbedded } from './command-line.ts'
import { newDataDir } from './data-dir.ts'
import { newDatabase } from './database.ts'
import { newRole } from './new-role.ts'

/** Several commands, each a process of its own. */
const TIMEOUT_MS = 300_000
const WEEK_MS = 7 * 24 * 60 * 60 * 1000

function open(url: string): Sql {
  const sql = connect(url, { connectionsMax: 2, name: 'test' })
  onTestFinished(() => sql.end({ timeoutMs: 0 }))
  return sql
}

const ownedBy = (sql: Sql, role: string) => sql`
  select relname from pg_class where relowner = ${role}::regrole
  union all select proname from pg_proc where proowner = ${role}::regrole`

test(
  'the service works as a role that owns nothing, and cannot change the schema',
  { timeout: TIMEOUT_MS },
  async () => {
    const ownerUrl = await newDatabase()
    const role = await newRole(ownerUrl)
    const migrate = () => hourbankWith({ MIGRATION_DATABASE_URL: ownerUrl }, role.url, 'migrate')
    await expect(migrate()).rejects.toThrow('grant pg_read_all_stats')
    await role.owner.unsafe(`grant pg_read_all_stats to ${role.name}`)
    expect(await migrate()).toContain('up to date')
    // Later commands and starts need the owner no more.
    expect(await hourbankWith({}, role.url, 'migrate')).toContain('up to date')

    const bank = await startBank({ databaseUrl: role.url })
    const admin = await addAdmin(bank)
    const member = await admin.call('/members', { body: { name: 'Ada' } })
    expect(member.status).toBe(201)
    const token = await bank.token()
    const credit = { user_id: member.body.data.id, hours: 1, reference: 'tx-1' }
    expect((await bank.call('/wallet/credit', { token, body: credit })).status).toBe(201)
    expect((await bank.call('/users?updated_since=2020-01-01T00:00:00Z', { token })).body.data).toHaveLength(1)
    // All three calls above: one that is logged later would not be pruned.
    await eventually(async () => (await bank.sql`select from call_groups`).length === 3)

    // Partitions: created ahead by the service, and dropped by it when they are old.
    const now = new Date(Date.now() + 52 * WEEK_MS)
    await createPartitions(bank.sql, now)
    const { partitions } = await prune(bank.sql, { callLogDays: 30, now: new Date(now.getTime() + 52 * WEEK_MS) })
    expect(partitions.length).toBeGreaterThan(0)
    expect(await bank.sql`select from call_groups`).toHaveLength(0)

    for (const statement of [
      'drop table members',
      'alter table members add column x text',
      'create table mine (id int8)',
      'truncate transfers',
      'delete from schema_migrations',
      "select create_week_partition('members', '2024-01-01')",
      "select create_week_partition('events', '2024-01-02')",
      "select drop_week_partition('members')",
      "select drop_week_partition('events_default')",
    ]) {
      await expect(bank.sql.unsafe(statement), statement).rejects.toThrow(
        /permission denied|must be owner|not a weekly/,
      )
    }
    expect(await ownedBy(role.owner, role.name)).toEqual([])
  },
)

test('updated_since waits for a transaction of another role', { timeout: TIMEOUT_MS }, async () => {
  const ownerUrl = await newDatabase()
  const role = await newRole(ownerUrl)
  await role.owner.unsafe(`grant pg_read_all_stats to ${role.name}`)
  await hourbankWith({ MIGRATION_DATABASE_URL: ownerUrl }, role.url, 'migrate')
  const service = open(role.url)
  await transaction(role.owner, async (tx) => {
    await tx`insert into communities (slug, name) values ('late', 'Late')`
    // One server sees the writing transaction itself, Citus only its stamp.
    if (isCluster()) await tx`select stamp_change(1)`
    const [start] = await tx<[{ at: string }]>`select now() as at`
    const [row] = await service<[{ horizon: string }]>`select sync_horizon(1) as horizon`
    expect(Date.parse(row.horizon)).toBeLessThanOrEqual(Date.parse(start.at))
  })
})

test('the embedded database is served by a role that owns nothing', { timeout: TIMEOUT_MS }, async () => {
  const dataDir = await newDataDir()
  const service = await serveEmbedded(dataDir)
  const database = await openEmbedded(dataDir, 'command')
  const sql = open(database.url)
  const sessions = await sql<{ role: string }[]>`
    select distinct usename::text as role from pg_stat_activity
    where application_name in ('hourbank requests', 'hourbank background', 'hourbank listener', 'hourbank deliveries')`
  expect(sessions).toEqual([{ role: 'hourbank_service' }])
  expect(await ownedBy(sql, 'hourbank_service')).toEqual([])
  const [role] =
    await sql`select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls from pg_roles where rolname = 'hourbank_service'`
  expect(role).toEqual({ rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolbypassrls: false })
  await sql.end({ timeoutMs: 0 })
  await database.close()
  expect(await service.end('SIGTERM')).toBe(0)
})
