import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { createSender } from '../src/delivery/send.ts'
import { eventually, startBank, TESTER } from './bank.ts'
import { partnerActions, resolveToLoopback } from './postman.ts'
import { startReceiver } from './receiver.ts'

/** A receiver that hangs is given up after this; one that is well must not need it, even on a busy machine. */
const SEND_TIMEOUT_MS = 10_000
const CREDITS = 4
const FLOOD_CHUNK = Buffer.alloc(64 * 1024, 'x')

type AnswerBadly = (response: ServerResponse) => void

/** What receivers do instead of answering. None of it says that the event has arrived. */
const FAULTS: Record<string, AnswerBadly> = {
  hangs: () => {},
  resets: (response) => void response.destroy(),
  lies: (response) => void response.socket!.end('HTTP/1.1 204 No Content\r\nContent-Length: minus one\r\n\r\n'),
  floods(response) {
    response.writeHead(500)
    const pour = () => {
      while (!response.destroyed && response.write(FLOOD_CHUNK));
    }
    response.on('drain', pour)
    pour()
  },
}

/** A bank with a delivery worker that keeps real time, and one subscription. */
async function startDelivering() {
  const receiver = await startReceiver()
  const names = { areDown: false }
  const sender = createSender({
    async resolve(name) {
      if (names.areDown) throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })
      return resolveToLoopback(name)
    },
    allowPrivateTargets: true,
    ca: receiver.ca,
    timeoutMs: SEND_TIMEOUT_MS,
  })
  onTestFinished(() => sender.close())
  const bank = await startBank({ sender })
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const actions = partnerActions(bank, await bank.token(), member.id, receiver)
  await actions.subscribe()
  return { receiver, names, bank, ...actions }
}

test('credits succeed whatever receivers do, and every event arrives once receivers recover', async () => {
  const { receiver, names, bank, credit } = await startDelivering()
  const lines: string[] = []
  let acknowledged = new Set<string>()
  const answerWell = receiver.answer
  const isWell: typeof receiver.answer = (response, received) => {
    acknowledged.add(received.id)
    // So that the next delivery has to look the name up again.
    response.setHeader('connection', 'close')
    answerWell(response, received)
  }

  async function endure(name: string, begin: () => void, end: () => void): Promise<void> {
    begin()
    const [{ last }] = await bank.sql<[{ last: number }]>`select coalesce(max(id), 0) as last from events`
    // Fails unless the answer is 201.
    for (let n = 0; n < CREDITS; n++) await credit()
    const events = await bank.sql<{ id: number; uuid: string }[]>`select id, uuid from events where id > ${last}`
    expect(events).toHaveLength(CREDITS)
    // The fault has been met, and did not count as an arrival.
    await eventually(async () => {
      const rows = await bank.sql<{ status: string }[]>`
        select status from deliveries where event_id > ${last} and attempts > 0`
      expect(rows.filter(({ status }) => status === 'delivered')).toEqual([])
      return rows.length > 0
    })
    end()
    const endedAtMs = performance.now()
    await eventually(() => events.every(({ uuid }) => acknowledged.has(`evt_${uuid}`)))
    const recoveredMs = Math.round(performance.now() - endedAtMs)
    lines.push(`receiver ${name}: callers saw 201, all ${CREDITS} events arrived ${recoveredMs} ms after it`)
  }

  receiver.answer = isWell
  for (const [name, answerBadly] of Object.entries(FAULTS)) {
    await endure(
      name,
      () => (receiver.answer = answerBadly),
      () => (receiver.answer = isWell),
    )
  }
  await endure(
    'has no DNS',
    () => (names.areDown = true),
    () => (names.areDown = false),
  )
  console.log(`${lines.join('\n')}\n${acknowledged.size} events, 0 lost`)
})
