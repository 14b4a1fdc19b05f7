import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { readAhead } from '../src/delivery/ahead.ts'
import { eventually, TESTER, type Bank } from './bank.ts'
import { lockTable } from './lock-table.ts'
import { startPostman } from './postman.ts'

const ON_THE_WIRE = 4
const AHEAD = 48
/** As many as are read at first, and one round more. */
const EVENTS = AHEAD + 2 * ON_THE_WIRE
const QUICK_MS = 50
/** Longer than any of these tests. */
const NEVER_STALE_MS = 600_000
const SOON_STALE_MS = 20

/** A receiver that has answered quickly, then holds its answers back, with more waiting for it than it can take. */
async function startWithBusyReceiver(staleMs: number) {
  const post = await startPostman({ staleMs })
  const { bank, receiver, worker } = post
  await post.subscribe()
  // On a busy machine the first answers take longer than a quick receiver's.
  await eventually(async () => {
    await post.credit()
    await post.deliver()
    const [last] = await bank.sql<
      { duration_ms: number }[]
    >`select duration_ms from delivery_attempts order by at desc, id desc limit 1`
    return last!.duration_ms <= QUICK_MS
  })
  receiver.received.length = 0

  const heldBack: ServerResponse[] = []
  receiver.answer = (response) => void heldBack.push(response)
  for (let n = 0; n < EVENTS; n++) await post.credit()
  worker.wake()
  await eventually(() => heldBack.length === ON_THE_WIRE)
  return {
    ...post,
    async answerAll(): Promise<void> {
      receiver.answer = (response) => response.writeHead(204).end()
      for (const response of heldBack) response.writeHead(204).end()
      await worker.idle()
    },
  }
}

async function countWhere({ sql }: Bank, condition: string): Promise<number> {
  const [row] = await sql.unsafe<[{ count: number }]>(`select count(*) from deliveries where ${condition}`)
  return row.count
}

async function suspend({ sql, communityId, partner }: Bank): Promise<void> {
  await changePartner(sql, TESTER, communityId, partner.partnerId, { status: 'suspended' })
}

test('for a quick receiver more is read than it has places, which goes out without the database, each once', async () => {
  const { bank, receiver, worker, answerAll } = await startWithBusyReceiver(NEVER_STALE_MS)
  const lock = await lockTable(bank.sql, 'deliveries')
  const answering = answerAll()
  await eventually(() => receiver.received.length === ON_THE_WIRE + AHEAD)
  await lock.release()
  await answering
  await worker.idle()
  expect(receiver.received).toHaveLength(EVENTS)
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(EVENTS)
})

test('what was read ahead is judged again when it had to wait', async () => {
  const { bank, receiver, answerAll } = await startWithBusyReceiver(SOON_STALE_MS)
  await suspend(bank)
  await pause(10 * SOON_STALE_MS)
  await answerAll()
  expect(receiver.received).toHaveLength(ON_THE_WIRE)
  expect(await countWhere(bank, `status = 'held'`)).toBe(EVENTS - ON_THE_WIRE)
})

test('what was read ahead is judged again when access changes', async () => {
  const { bank, receiver, worker, answerAll } = await startWithBusyReceiver(NEVER_STALE_MS)
  await suspend(bank)
  worker.judgeAnew(bank.communityId)
  await answerAll()
  expect(receiver.received).toHaveLength(ON_THE_WIRE)
  expect(await countWhere(bank, `status = 'held'`)).toBe(EVENTS - ON_THE_WIRE)
})

test('what has not been read when the partner API is switched off waits, although that has not been heard yet', async () => {
  const { bank, receiver, worker, deliver, answerAll } = await startWithBusyReceiver(NEVER_STALE_MS)
  const { sql, communityId } = bank
  await switchPartnerApi(sql, TESTER, communityId, { enabled: false, reason: 'audit' })
  await answerAll()
  await worker.idle()
  expect(receiver.received).toHaveLength(ON_THE_WIRE + AHEAD)
  await switchPartnerApi(sql, TESTER, communityId, { enabled: true })
  await deliver()
  expect(receiver.received).toHaveLength(EVENTS)
})

test('only a quick success lets more be read, and a failure gives back what was', () => {
  const givenBack: string[] = []
  const ahead = readAhead<string>((taken) => givenBack.push(taken))
  onTestFinished(ahead.close)
  expect(ahead.room('a')).toBe(0)
  ahead.noteAnswer('a', true, QUICK_MS + 1)
  expect(ahead.room('a')).toBe(0)
  ahead.noteAnswer('a', true, QUICK_MS)
  expect(ahead.room('a')).toBe(AHEAD)
  for (const taken of ['one', 'two', 'three']) ahead.put('a', taken)
  expect(ahead.room('a')).toBe(AHEAD - 3)
  expect(ahead.take('a')).toBe('one')
  expect(ahead.take('b')).toBeUndefined()
  ahead.noteAnswer('a', false, 1)
  expect(givenBack).toEqual(['two', 'three'])
  expect(ahead.room('a')).toBe(0)
  expect(ahead.take('a')).toBeUndefined()
})

test('a receiver for which something had to wait has nothing more read ahead', async () => {
  const givenBack: string[] = []
  const ahead = readAhead<string>((taken) => givenBack.push(taken), SOON_STALE_MS)
  onTestFinished(ahead.close)
  ahead.noteAnswer('a', true, 1)
  ahead.put('a', 'one')
  await eventually(() => givenBack.length === 1)
  expect(ahead.room('a')).toBe(0)
})
