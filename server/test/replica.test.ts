import { describe, expect, onTestFinished, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { openReplica } from '../src/postgres/replica.ts'
import { addAdmin } from './admin.ts'
import { eventually, startBank, TESTER, type BankOptions } from './bank.ts'
import { captureLog } from './capture-log.ts'
import { hasPostgres15, startPair, type PostgresServer } from './postgres-servers.ts'

/** What is left for the primary: the session, and the names in the audit log. */
const STATEMENTS_ON_PRIMARY = {
  '/members': 1,
  '/listings': 1,
  '/transfers': 1,
  '/audit': 4,
  '/calls': 1,
  '/calls/errors': 1,
  '/webhooks': 1,
  '/partners': 1,
  '/search?q=ada': 1,
  '/aggregates': 1,
}

async function startReplicated(options: BankOptions = {}) {
  const [primary, standby] = await startPair({ isSynchronous: false })
  const bank = await startBank({ databaseUrl: primary.url, config: { replicaUrl: standby.url }, ...options })
  return { bank, standby }
}

/** The statements that the sessions on the replica ran last, without those that ask how far it is. */
async function lastReads(standby: PostgresServer): Promise<string[]> {
  const rows = await standby.run(
    `select application_name || ': ' || query as query from pg_stat_activity where application_name like 'hourbank%' and application_name <> 'hourbank test'`,
  )
  return rows.map((row) => String(row.query)).filter((query) => !query.includes('pg_stat_wal_receiver'))
}

test('a replica that was never reachable is reported', async () => {
  const { sql } = await startBank()
  const { log, entries } = captureLog()
  const replica = openReplica('postgres://nobody@127.0.0.1:1/nothing', { primary: sql, log })
  onTestFinished(() => replica.end())
  await eventually(() => entries().length > 0)
  expect(entries()).toEqual([
    expect.objectContaining({
      level: 40,
      msg: 'the replica is not used until it is back',
      reason: expect.stringContaining('ECONNREFUSED'),
    }),
  ])
})

describe.skipIf(!hasPostgres15)('a replica (needs postgresql-15)', () => {
  test('it serves the lists of the console, until it lags or is away; changes are seen at once by who made them', async () => {
    let statements = 0
    const { bank, standby } = await startReplicated({ onStatement: () => void (statements += 1) })
    const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
    const reader = await addAdmin(bank)
    const office = await addAdmin(bank)
    const names = async (admin: typeof reader) => {
      const { status, body } = await admin.call('/members')
      expect(status).toBe(200)
      return body.data.map(({ name }: { name: string }) => name)
    }
    const isOnReplica = async () => {
      statements = 0
      await names(reader)
      return statements === STATEMENTS_ON_PRIMARY['/members']
    }
    reader.forget('hourbank_changed')
    await eventually(isOnReplica)
    expect(await names(reader)).toEqual(['Ada'])

    // Nothing arrives at the replica from here on, but for a while nobody can know.
    await standby.run('select pg_wal_replay_pause()')
    const added = await office.call('/members', { body: { key: crypto.randomUUID(), name: 'Bea' } })
    expect(added.status).toBe(201)
    expect(added.headers.getSetCookie().join()).toMatch(/hourbank_changed=1; Max-Age=10;/)
    expect(await names(office)).toEqual(['Bea', 'Ada'])
    await eventually(async () => (await names(reader)).length === 2)

    // Partners read the primary: tokens, balances, credits and lists.
    const token = await bank.token()
    const credit = { user_id: id, hours: 1, reference: 'a' }
    expect((await bank.call('/wallet/credit', { token, body: credit })).status).toBe(201)
    expect((await bank.call(`/wallet/balance/${id}`, { token })).body.data.balance_hours).toBe(1)

    await standby.run('select pg_wal_replay_resume()')
    await eventually(isOnReplica)
    await standby.kill()
    for (let use = 0; use < 3; use += 1) expect(await names(reader)).toEqual(['Bea', 'Ada'])
  })

  test('every list, search, overview and export of the console is read from it', async () => {
    let statements = 0
    const { bank, standby } = await startReplicated({ onStatement: () => void (statements += 1) })
    await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
    const admin = await addAdmin(bank)
    admin.forget('hourbank_changed')
    const read = async (path: string) => {
      statements = 0
      const { status, headers } = await admin.call(path)
      expect([path, status]).toEqual([path, 200])
      expect(headers.getSetCookie()).toEqual([])
      return statements
    }
    for (const [path, onPrimary] of Object.entries(STATEMENTS_ON_PRIMARY)) {
      await eventually(async () => (await read(path)) === onPrimary)
    }
    const isReadBy = async (path: string, sign: RegExp) => {
      await read(path)
      return (await lastReads(standby)).some((query) => sign.test(query))
    }
    await eventually(() => isReadBy('/overview', /^hourbank replica: [^]*has_members/))
    await eventually(() => isReadBy('/transfers/export', /^hourbank imports and exports: commit/))
  })

  test('only the totals of finished months are written to the primary; the overview itself is read from it', async () => {
    const { log, lines } = captureLog('info')
    let onPrimary: string[] = []
    const onStatement = (text: string) => void onPrimary.push(text)
    const { bank, standby } = await startReplicated({ log, onStatement })
    const admin = await addAdmin(bank)
    admin.forget('hourbank_changed')
    await eventually(() => lines.some((line) => line.includes('the replica is used')))
    const isDivided = async () => {
      await bank.sql`delete from month_totals`
      onPrimary = []
      await admin.call('/overview')
      const [{ stored }] = await bank.sql<[{ stored: number }]>`select count(*) as stored from month_totals`
      return (
        stored === 11 &&
        onPrimary.filter((text) => /insert into month_totals/.test(text)).length === stored &&
        !onPrimary.some((text) => /from transfers|has_members/.test(text)) &&
        (await lastReads(standby)).some((query) => query.includes('has_members'))
      )
    }
    // Not the first time if the replica lags for a moment.
    await eventually(isDivided)
  })
})
