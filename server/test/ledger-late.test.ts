import { expect, onTestFinished, test } from 'vitest'
import { startChainJob } from '../src/features/ledger/chain-job.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { chainLedger } from '../src/features/ledger/chain-ledger.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { eventually, TESTER } from './bank.ts'
import { keepBooks, tamper } from './books.ts'
import { captureLog } from './capture-log.ts'
import { newDatabase } from './database.ts'
import { runLedger } from './ledger-command.ts'
import { holdOpen } from './lock-table.ts'

async function openDatabase() {
  const url = await newDatabase()
  const sql = connect(url, { connectionsMax: 4, name: 'late test' })
  onTestFinished(() => sql.end({ timeoutMs: 0 }))
  return { url, sql }
}

/** A chained ledger of an old community, and one more transfer while a transaction holds the chain back. */
async function startHeld() {
  const { url, sql } = await openDatabase()
  const books = await keepBooks(sql)
  await sql`update communities set created_at = now() - interval '1 year'`
  await chainLedger(sql, books.id)
  const held = await holdOpen(sql, 'select pg_current_xact_id()')
  const [session] = await held.tx<[{ pid: number }]>`select pg_backend_pid() as pid`
  const move = () =>
    adjustBalance(sql, TESTER, books.id, { memberId: books.members[0]!, centihours: 1, reason: 'held back' })
  await move()
  return { url, sql, books, held, move, pid: session.pid }
}

/** As if the last transfer had been recorded and the chain been extended so long ago. */
async function age(sql: Sql, interval: string): Promise<void> {
  await tamper(sql, async (tx) => {
    await tx`update transfers set created_at = now() - ${interval}::interval where id = (select max(id) from transfers)`
    await tx`update ledger_heads set chained_at = now() - ${interval}::interval`
  })
}

test('ledger verify reports transfers that have not been chained for an hour', async () => {
  const { url, sql, books, held, move } = await startHeld()
  await age(sql, '59 minutes')
  const young = await runLedger(url, 'verify', {})
  expect(young.failed).toBeUndefined()
  expect(young.printed).toContain('1 transfer is not chained yet.\n')

  await age(sql, '61 minutes')
  const late = await runLedger(url, 'verify', {})
  expect(late.failed).toMatchObject({
    message: expect.stringMatching(`^The hash chain of ${books.slug} has not been extended for more than an hour`),
  })
  expect(late.printed).toContain('no differences.\n  1 transfer is not chained yet, for more than an hour.\n')
  expect((await runLedger(url, 'verify', { json: true })).json()).toMatchObject({
    ok: false,
    communities: [{ waiting: 1, late: true, differences: [] }],
  })
  // Nothing that the office could do: no alert for it.
  expect(await sql`select from alerts where kind = 'ledger_wrong'`).toEqual([])

  // A chain that is being extended, as after an upgrade, is not late.
  await tamper(sql, (tx) => tx`update ledger_heads set chained_at = now()`)
  expect((await runLedger(url, 'verify', {})).failed).toBeUndefined()
  await tamper(sql, (tx) => tx`update ledger_heads set chained_at = now() - interval '1 day'`)
  await held.release()
  await chainLedger(sql, books.id)
  await move()
  expect((await runLedger(url, 'verify', { json: true })).json()).toMatchObject({
    ok: true,
    communities: [{ waiting: 1, late: false }],
  })
})

test('a ledger that was never chained is not late while its community is young, however old its transfers are', async () => {
  const { url, sql } = await openDatabase()
  const { id } = await createCommunity(sql, TESTER, { slug: 'young', name: 'Young', timeZone: 'UTC' })
  const { id: memberId } = await addMember(sql, TESTER, id, { name: 'Ada' })
  await adjustBalance(sql, TESTER, id, { memberId, centihours: 100, reason: 'before' })
  await tamper(sql, (tx) => tx`update transfers set created_at = now() - interval '1 year'`)
  expect((await runLedger(url, 'verify', {})).failed).toBeUndefined()
  await sql`update communities set created_at = now() - interval '61 minutes'`
  expect((await runLedger(url, 'verify', {})).failed!.message).toMatch(/has not been extended for more than an hour/)
})

test('differences are named first where the chain is late too', async () => {
  const { url, sql, books } = await startHeld()
  await age(sql, '2 hours')
  await tamper(sql, (tx) => tx`update accounts set balance = balance + 1 where member_id = ${books.idle}`)
  expect((await runLedger(url, 'verify', {})).failed!.message).toMatch(
    /^The books are wrong in .*\nThe hash chain of .* has not been extended/,
  )
})

test('the job names the transaction that holds the chain back, once', async () => {
  const { url, sql, pid } = await startHeld()
  const { log, entries } = captureLog()
  const warnings = () => entries().filter(({ msg }) => String(msg).startsWith('the ledger has not been chained'))
  const sent: string[] = []
  const background = connect(url, { connectionsMax: 1, name: 'late test', onStatement: (text) => sent.push(text) })
  onTestFinished(() => background.end({ timeoutMs: 0 }))
  const job = startChainJob({ background, databaseUrl: url, log, intervalMs: 5 })
  onTestFinished(() => job.stop())
  const runs = () => sent.filter((text) => text.includes('transfers_id_seq')).length
  const nextRuns = async () => {
    const before = runs()
    await eventually(() => runs() >= before + 2)
  }
  await nextRuns()
  expect(warnings()).toEqual([])
  await age(sql, '6 minutes')
  await nextRuns()
  await nextRuns()
  expect(warnings()).toEqual([
    expect.objectContaining({
      level: 40,
      waiting_seconds: expect.any(Number),
      pid,
      transaction_seconds: expect.any(Number),
    }),
  ])
  expect(warnings()[0]!.waiting_seconds).toBeGreaterThanOrEqual(360)
})
