import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { connect } from '../src/postgres/connect.ts'
import { createSecretBox } from '../src/crypto/secret-box.ts'
import { addMember } from '../src/features/members/change-member.ts'
import type { Resolve } from '../src/outbound/addresses.ts'
import { createSender, type Sender } from '../src/delivery/send.ts'
import { startDeliveryWorker } from '../src/delivery/worker.ts'
import { SECRET_KEY, startBank, TESTER, type Bank, type BankOptions } from './bank.ts'
import { startReceiver, type Receiver } from './receiver.ts'

export const resolveToLoopback: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]

/** Sends to whatever name on this machine, and trusts the receiver. */
export function trustingSender(receiver: Receiver, timeoutMs?: number): Sender {
  return createSender({
    resolve: resolveToLoopback,
    allowPrivateTargets: true,
    ca: receiver.ca,
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
}

export interface PostmanOptions {
  sender?: (receiver: Receiver) => Sender
  /** From 0 to 1; in the middle there is no jitter. */
  random?: () => number
  timeouts?: BankOptions['timeouts']
}

/** A bank whose deliveries go out when the test says so, by the test's clock. */
export async function startPostman({
  sender = trustingSender,
  random = () => 0.5,
  timeouts = {},
}: PostmanOptions = {}) {
  const receiver = await startReceiver()
  const bank = await startBank({ config: { role: 'api' }, timeouts })
  const token = await bank.token()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada', email: 'ada@example.org' })
  let nowMs = Date.now()

  /** One more, by whatever clock. */
  async function startWorker(clock: () => Date, { isIdle = true, mayReadAhead = (): boolean => true } = {}) {
    const sql = connect(bank.databaseUrl, { connectionsMax: 4, name: 'test deliveries' })
    const started = startDeliveryWorker({
      sql,
      log: pino({ level: 'silent' }),
      box: createSecretBox(SECRET_KEY),
      sender: sender(receiver),
      clock,
      random,
      mayReadAhead,
      poll: false,
      closeTimeoutMs: 200,
    })
    onTestFinished(async () => {
      await started.close()
      await sql.end()
    })
    if (isIdle) await started.idle()
    return {
      worker: started,
      async deliver(): Promise<void> {
        started.wake()
        await started.idle()
      },
    }
  }
  const { worker } = await startWorker(() => new Date(nowMs))

  /** Whatever is due by the test's clock goes out. */
  async function deliver(): Promise<void> {
    nowMs = Math.max(nowMs, Date.now())
    worker.wake()
    await worker.idle()
  }
  await deliver()

  return {
    bank,
    receiver,
    token,
    member,
    worker,
    startWorker,
    deliver,
    now: () => nowMs,
    async advance(ms: number): Promise<void> {
      nowMs += ms
      await deliver()
    },
    ...partnerActions(bank, token, member.id, receiver),
  }
}

export type Postman = Awaited<ReturnType<typeof startPostman>>

/** What partners do in these tests. */
export function partnerActions(bank: Bank, token: string, memberId: number, receiver: Receiver) {
  let credits = 0
  return {
    async subscribe(body: object = {}, of = token) {
      const answer = await bank.call('/webhooks/subscriptions', {
        token: of,
        body: { event_types: ['wallet.*'], target_url: receiver.url, ...body },
      })
      if (answer.status !== 201) throw new Error(`not subscribed: ${JSON.stringify(answer.body)}`)
      return answer.body.data as { id: number; secret: string }
    },
    async credit(body: object = {}, of = token) {
      const reference = `tx-${(credits += 1)}`
      const answer = await bank.call('/wallet/credit', {
        token: of,
        body: { user_id: memberId, hours: 1, reference, ...body },
      })
      if (answer.status !== 201) throw new Error(`not credited: ${JSON.stringify(answer.body)}`)
      return answer.body.data
    },
    async subscription(id: number, of = token) {
      return (await bank.call(`/webhooks/subscriptions/${id}`, { token: of })).body.data
    },
    async deliveries(id: number, of = token) {
      return (await bank.call(`/webhooks/subscriptions/${id}/deliveries`, { token: of })).body.data
    },
  }
}
