import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { changePartner } from '../src/partners/change-partner.ts'
import { leaseAhead } from '../src/webhooks/ahead.ts'
import { eventually, TESTER, type Bank } from './bank.ts'
import { startPostman } from './postman.ts'

const ON_THE_WIRE = 4
const AHEAD = 16
const EVENTS = 40
const QUICK_MS = 50

/** A receiver that has answered quickly, then holds its answers back, with more waiting for it than it can take. */
async function startWithBusyReceiver() {
  const post = await startPostman()
  const { bank, receiver, worker } = post
  const { id } = await post.subscribe()
  // On a busy machine the first answers take longer than a quick receiver's.
  await eventually(async () => {
    await post.credit()
    await post.deliver()
    const [last] = await bank.sql<
      { duration_ms: number }[]
    >`select duration_ms from attempts order by at desc, id desc limit 1`
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
    /** By when they are due again: what is leased is due when the lease ends. */
    leased: () =>
      countWhere(
        bank,
        `subscription_id = ${id} and status = 'pending' and next_attempt_at > created_at + interval '20 seconds'`,
      ),
  }
}

async function countWhere({ sql }: Bank, condition: string): Promise<number> {
  const [row] = await sql.unsafe<[{ count: number }]>(`select count(*) from deliveries where ${condition}`)
  return row.count
}

test('a quick receiver has more leased for it than it has places, and gets each of them once', async () => {
  const { bank, receiver, answerAll } = await startWithBusyReceiver()
  expect(await countWhere(bank, `status = 'pending' and claims > 0`)).toBe(ON_THE_WIRE + AHEAD)
  await answerAll()
  expect(receiver.received).toHaveLength(EVENTS)
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(EVENTS)
})

test('what was leased ahead is given back when it has to wait, and nothing more is leased ahead', async () => {
  const { bank, receiver, worker, subscribe, credit, leased, answerAll } = await startWithBusyReceiver()
  await eventually(async () => (await leased()) === ON_THE_WIRE)
  // What reaches another receiver tells that there was a round in which more could have been leased.
  const holdBack = receiver.answer
  receiver.answer = (response, received) =>
    received.path === '/other' ? response.writeHead(204).end() : holdBack(response, received)
  await subscribe({ target_url: receiver.url.replace('/hook', '/other') })
  await credit()
  worker.wake()
  await eventually(() => receiver.received.some(({ path }) => path === '/other'))
  expect(await leased()).toBe(ON_THE_WIRE)
  await answerAll()
  expect(await countWhere(bank, `status <> 'delivered'`)).toBe(0)
})

test('what was leased ahead is judged again when access changes', async () => {
  const { bank, receiver, worker, leased, answerAll } = await startWithBusyReceiver()
  await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { status: 'suspended' })
  worker.judgeAnew(bank.communityId)
  await eventually(async () => (await leased()) === ON_THE_WIRE)
  await answerAll()
  expect(receiver.received).toHaveLength(ON_THE_WIRE)
  expect(await countWhere(bank, `status = 'held'`)).toBe(EVENTS - ON_THE_WIRE)
})

test('only a quick success lets more be leased, and a failure gives back what was', () => {
  const givenBack: string[] = []
  const ahead = leaseAhead<string>((leased) => givenBack.push(leased))
  onTestFinished(ahead.close)
  expect(ahead.room('a')).toBe(0)
  ahead.noteAnswer('a', true, QUICK_MS + 1)
  expect(ahead.room('a')).toBe(0)
  ahead.noteAnswer('a', true, QUICK_MS)
  expect(ahead.room('a')).toBe(AHEAD)
  for (const leased of ['one', 'two', 'three']) ahead.put('a', leased)
  expect(ahead.room('a')).toBe(AHEAD - 3)
  expect(ahead.take('a')).toBe('one')
  expect(ahead.take('b')).toBeUndefined()
  ahead.noteAnswer('a', false, 1)
  expect(givenBack).toEqual(['two', 'three'])
  expect(ahead.room('a')).toBe(0)
  expect(ahead.take('a')).toBeUndefined()
})
