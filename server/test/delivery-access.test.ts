import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { eventually, TESTER, type Bank } from './bank.ts'
import { startPostman } from './postman.ts'

const QUICK_MS = 50
const EVENTS = 60
/** After this time, loaded deliveries are read and checked again. */
const STALE_MS = 250

/** A receiver that was quick, so that more is loaded for it, and then stops answering. */
async function startWithSilentReceiver({ mayReadAhead = (): boolean => true } = {}) {
  const post = await startPostman()
  const { bank, receiver } = post
  await post.worker.close()
  const { worker, deliver } = await post.startWorker(() => new Date(), { mayReadAhead })
  await post.subscribe()
  for (let n = 0; n < EVENTS; n++) await post.credit()
  const unanswered: ServerResponse[] = []
  let quick = 0
  // The first ones are answered, so that the queue loads more than it sends.
  receiver.answer = (response) => {
    if ((quick += 1) <= 8) response.writeHead(204).end()
    else unanswered.push(response)
  }
  worker.wake()
  await eventually(async () => {
    const before = unanswered.length
    await pause(QUICK_MS)
    return unanswered.length > 0 && unanswered.length === before
  })
  const inFlight = receiver.received.length
  expect(inFlight).toBeLessThan(EVENTS)
  return {
    bank,
    receiver,
    worker,
    deliver,
    inFlight,
    async answerAll(): Promise<void> {
      receiver.answer = (response) => response.writeHead(204).end()
      for (const response of unanswered) response.writeHead(204).end()
      await worker.idle()
    },
  }
}

async function countHeld({ sql }: Bank): Promise<number> {
  return (await sql`select from deliveries where status = 'held'`).length
}

async function suspend({ sql, communityId, partner }: Bank): Promise<void> {
  await changePartner(sql, TESTER, communityId, partner.partnerId, { status: 'suspended' })
}

test('deliveries that were loaded before access is withdrawn are not sent after the announcement', async () => {
  const { bank, receiver, worker, inFlight, answerAll } = await startWithSilentReceiver()
  await suspend(bank)
  worker.invalidate(bank.communityId)
  await answerAll()
  expect(receiver.received).toHaveLength(inFlight)
  expect(await countHeld(bank)).toBe(EVENTS - inFlight)
})

test('without an announcement they are checked again when they had to wait', async () => {
  const { bank, receiver, inFlight, answerAll } = await startWithSilentReceiver()
  await suspend(bank)
  await pause(STALE_MS + QUICK_MS)
  await answerAll()
  expect(receiver.received).toHaveLength(inFlight)
  expect(await countHeld(bank)).toBe(EVENTS - inFlight)
})

test('while announcements cannot be trusted, nothing is loaded that cannot be sent at once', async () => {
  const { bank, receiver, inFlight, answerAll } = await startWithSilentReceiver({ mayReadAhead: () => false })
  await suspend(bank)
  await answerAll()
  expect(receiver.received).toHaveLength(inFlight)
  expect(await countHeld(bank)).toBe(EVENTS - inFlight)
})

test('deliveries that were loaded wait when the partner API is switched off, and go on afterwards', async () => {
  const { bank, receiver, worker, deliver, inFlight, answerAll } = await startWithSilentReceiver()
  const { sql, communityId } = bank
  await switchPartnerApi(sql, TESTER, communityId, { enabled: false, reason: 'audit' })
  worker.invalidate(undefined)
  await answerAll()
  expect(receiver.received).toHaveLength(inFlight)
  await switchPartnerApi(sql, TESTER, communityId, { enabled: true })
  await deliver()
  expect(receiver.received).toHaveLength(EVENTS)
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(EVENTS)
})
