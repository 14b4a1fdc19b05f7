import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Progress } from '../src/core/progress.ts'
import { removeTestCommunity } from '../src/features/communities/remove-test-community.ts'
import { startChainJob } from '../src/features/ledger/chain-job.ts'
import { BATCH_MAX, chainLedger } from '../src/features/ledger/chain-ledger.ts'
import { FIRST_HASH, hashTransfer } from '../src/features/ledger/hash-transfer.ts'
import { findHead, lockHead } from '../src/features/ledger/queries.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { connect, transaction, type Sql } from '../src/postgres/connect.ts'
import { eventually, TESTER } from './bank.ts'
import { keepBooks } from './books.ts'
import { captureLog } from './capture-log.ts'
import { fillAdjustments, keepChained, newCommunity, positionOf } from './chained-books.ts'
import { newDatabase } from './database.ts'
import { holdOpen, openTransaction, someoneWaits } from './lock-table.ts'

let sql: Sql

beforeAll(async () => {
  sql = connect(await newDatabase(), { connectionsMax: 4, name: 'chain test' })
})

afterAll(() => sql.end())

test('every transfer gets a link, once, in the order of ids', async () => {
  const books = await keepBooks(sql)
  expect(await verifyLedger(sql, books.id)).toMatchObject({ chained: 0, waiting: 14, differences: [] })
  expect(await chainLedger(sql, books.id)).toBe(14)
  expect(await chainLedger(sql, books.id)).toBe(0)
  expect(await verifyLedger(sql, books.id)).toMatchObject({ chained: 14, waiting: 0, differences: [] })
  const rows = await sql<{ id: number; transfer_id: number; position: number }[]>`
    select t.id, l.transfer_id, l.position from transfers t
    left join ledger_links l on l.community_id = ${books.id} and l.transfer_id = t.id
    where t.community_id = ${books.id} order by t.id`
  expect(rows.map(({ position }) => position)).toEqual(rows.map((_row, n) => n + 1))
  expect(await findHead(sql, books.id)).toMatchObject({ position: 14, transfer_id: rows.at(-1)!.id })
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

test('the hash can be computed by anyone from the previous hash and the transfer', () => {
  const transfer = {
    id: 7,
    kind: 'exchange',
    debit_account_id: 3,
    debit_owner: 'member 1',
    credit_account_id: 4,
    credit_owner: 'member 2',
    amount: 150,
    debit_balance_after: -150,
    credit_balance_after: 150,
    reverses_id: null,
    listing_id: 5,
    made_by_kind: 'admin',
    made_by_id: 9,
    occurred_on: '2026-01-31',
    created_at: '2026-02-01T10:00:00.000001Z',
    reference: null,
    reversal_reference: 'back',
  }
  const fields =
    '2,7,"exchange",3,"member 1",4,"member 2",150,-150,150,null,5,"admin",9,"2026-01-31","2026-02-01T10:00:00.000001Z"'
  const expected = sha256(`${FIRST_HASH}\n[2,${fields},null,"back"]`)
  expect(hashTransfer(FIRST_HASH, 2, transfer)).toBe(expected)
  expect(hashTransfer(expected, 2, transfer)).not.toBe(expected)
  expect(hashTransfer(FIRST_HASH, 2, transfer, 1)).toBe(sha256(`${FIRST_HASH}\n[1,${fields}]`))
})

test('chaining goes on where it was stopped, in batches and with progress', async () => {
  const id = await newCommunity(sql)
  const count = 2 * BATCH_MAX + 500
  await fillAdjustments(sql, id, count)
  const steps: Progress[] = []
  const onProgress = (step: Progress) => void steps.push(step)
  expect(await chainLedger(sql, id, { onProgress, isStopped: () => steps.length > 0 })).toBe(BATCH_MAX)
  expect(steps).toEqual([{ done: BATCH_MAX, total: count, label: '' }])
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: BATCH_MAX, waiting: count - BATCH_MAX, differences: [] })
  expect(await chainLedger(sql, id, { onProgress })).toBe(count - BATCH_MAX)
  expect(steps.slice(1)).toMatchObject([{ done: BATCH_MAX }, { done: count - BATCH_MAX, total: count - BATCH_MAX }])
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: count, waiting: 0, differences: [] })
})

test('nodes that chain the same community at once make one chain', async () => {
  const id = await newCommunity(sql)
  const count = BATCH_MAX + 500
  await fillAdjustments(sql, id, count)
  const made = await Promise.all([true, false, true, false].map((wait) => chainLedger(sql, id, { wait })))
  expect(made.reduce((sum, chained) => sum + chained, 0)).toBe(count)
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: count, waiting: 0, differences: [] })
})

test('a node leaves a community to the one that works on it, and a command waits', async () => {
  const { id } = await keepChained(sql)
  const other = await holdOpen(sql, `select from ledger_heads where community_id = ${id} for no key update`)
  expect(await transaction(sql, (tx) => lockHead(tx, id, { wait: false }))).toBeUndefined()
  const waiting = transaction(sql, (tx) => lockHead(tx, id, { wait: true }))
  await someoneWaits(sql)
  await other.release()
  expect(await waiting).toMatchObject({ position: 14 })
})

test('a transfer that commits late is not skipped', async () => {
  const { id, members } = await keepChained(sql)
  const [anna, bilal, carla] = members as [number, number, number]
  const slow = await openTransaction(sql)
  const [late] = await recordExchanges(slow.tx, TESTER, id, [{ giverId: anna, receiverId: bilal, centihours: 10 }])
  const quick = await adjustBalance(sql, TESTER, id, { memberId: carla, centihours: 5, reason: 'quick' })
  expect(quick.id).toBeGreaterThan(late!.id)
  expect(await chainLedger(sql, id)).toBe(0)
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: 14, waiting: 1, differences: [] })
  await slow.commit()
  expect(await chainLedger(sql, id)).toBe(2)
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: 16, waiting: 0, differences: [] })
})

test('a transfer that waited for a wallet comes after those that did not, although its time is earlier', async () => {
  const { id, members } = await keepChained(sql)
  const [anna, , carla] = members as [number, number, number]
  const wallet = await holdOpen(
    sql,
    `select from accounts where community_id = ${id} and member_id = ${anna} for no key update`,
  )
  const held = adjustBalance(sql, TESTER, id, { memberId: anna, centihours: 5, reason: 'held' })
  await someoneWaits(sql)
  const quick = await adjustBalance(sql, TESTER, id, { memberId: carla, centihours: 5, reason: 'quick' })
  await wallet.release()
  const late = await held
  expect(late.id).toBeGreaterThan(quick.id)
  expect(late.created_at < quick.created_at).toBe(true)
  expect(await chainLedger(sql, id)).toBe(2)
  expect([await positionOf(sql, id, quick.id), await positionOf(sql, id, late.id)]).toEqual([15, 16])
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: 16, waiting: 0, differences: [] })
})

test('erasing a member changes nothing that is chained', async () => {
  const { id, members } = await keepChained(sql)
  const head = await findHead(sql, id)
  await eraseMember(sql, TESTER, id, members[0]!)
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: 14, differences: [] })
  expect(await findHead(sql, id)).toEqual(head)
})

test('a removed test community leaves no links, and its removal waits for those that are being added', async () => {
  const { id, slug } = await keepChained(sql)
  await sql`update communities set test = true where id = ${id}`
  const adding = await holdOpen(sql, `select from ledger_heads where community_id = ${id} for update`)
  const removal = removeTestCommunity(sql, TESTER, id, slug)
  await someoneWaits(sql)
  await adding.tx`
    insert into ledger_links (community_id, transfer_id, position, hash) values (${id}, 1, 15, sha256(''))`
  await adding.commit()
  await removal
  const left = await sql`
    select community_id from ledger_links where community_id = ${id}
    union all select community_id from ledger_heads where community_id = ${id}`
  expect(left).toEqual([])
  expect(await chainLedger(sql, id)).toBe(0)
})

test('the job chains every community that has new transfers, and logs a backlog', async () => {
  const url = await newDatabase()
  const own = connect(url, { connectionsMax: 4, name: 'chain test' })
  onTestFinished(() => own.end())
  const books = [await keepBooks(own), await keepBooks(own)]
  const { log, entries } = captureLog()
  const job = startChainJob({ background: own, databaseUrl: url, log, intervalMs: 5 })
  onTestFinished(() => job.stop())
  const chained = async () => Promise.all(books.map(async ({ id }) => (await findHead(own, id))?.position))
  await eventually(async () => (await chained()).every((position) => position === 14))
  await own`
    insert into transfers (community_id, kind, debit_account_id, credit_account_id, amount, made_by_kind, occurred_on)
    select t.community_id, t.kind, t.debit_account_id, t.credit_account_id, 1, 'system', t.occurred_on
    from transfers t, generate_series(1, ${BATCH_MAX + 1}::int4)
    where t.community_id = ${books[1]!.id} and t.id = ${books[1]!.adjustment}`
  await eventually(async () => (await chained())[1] === BATCH_MAX + 15)
  expect(await chained()).toEqual([14, BATCH_MAX + 15])
  expect(entries().map(({ msg, of }) => ({ msg, of }))).toContainEqual({
    msg: 'chaining the ledger',
    of: BATCH_MAX + 1,
  })
})

test('the job sees a transfer whose transaction was open when it last found nothing to do', async () => {
  const url = await newDatabase()
  const own = connect(url, { connectionsMax: 4, name: 'chain test' })
  onTestFinished(() => own.end())
  const { id, members } = await keepBooks(own)
  const sent: string[] = []
  const background = connect(url, { connectionsMax: 1, name: 'chain test', onStatement: (text) => sent.push(text) })
  onTestFinished(() => background.end({ timeoutMs: 0 }))
  const looks = () => sent.filter((text) => text.includes('ledger_heads')).length
  const job = startChainJob({ background, databaseUrl: url, log: captureLog().log, intervalMs: 5 })
  onTestFinished(() => job.stop())
  const position = async () => (await findHead(own, id))?.position
  await eventually(async () => (await position()) === 14)

  const slow = await openTransaction(own)
  await adjustBalance(slow.tx, TESTER, id, { memberId: members[0]!, centihours: 1, reason: 'slow' })
  const before = looks()
  await eventually(() => looks() >= before + 3)
  await slow.commit()
  await eventually(async () => (await position()) === 15)
  // With everything chained, it stops looking at communities.
  await eventually(async () => {
    const [asked, looked] = [sent.length, looks()]
    await eventually(() => sent.length > asked + 3)
    return looks() === looked
  })
})
