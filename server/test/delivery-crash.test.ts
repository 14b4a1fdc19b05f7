import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { connect, transaction } from '../src/postgres/connect.ts'
import { recordEvents } from '../src/features/events/record.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { createPartner } from '../src/features/partners/create-partner.ts'
import { callNode, eventually, fetchToken, SECRET_KEY, TESTER } from './bank.ts'
import { newDatabase } from './database.ts'
import { startKillable } from './killable-service.ts'
import { startReceiver } from './receiver.ts'
import { volume } from './volume.ts'

const CREDITS = volume(5000)
const WRITERS = 8
const ROLLED_BACK = CREDITS / 20
/** One of the two processes, chosen at random, is killed whenever so many more credits have been made. */
const CREDITS_PER_KILL = CREDITS / 5
const RETRY_MS = 50

test('killed at random, server and worker deliver every committed credit and no other', async () => {
  const receiver = await startReceiver()
  const databaseUrl = await newDatabase()
  const sql = connect(databaseUrl, { connectionsMax: 4, name: 'test' })
  onTestFinished(() => sql.end())
  const { id: communityId } = await createCommunity(sql, TESTER, { slug: 'town', name: 'Town' })
  const partner = await createPartner(sql, TESTER, communityId, {
    name: 'Bank',
    scopes: SCOPE_NAMES,
    rateLimitPerMinute: 1_000_000,
  })
  const { id: memberId } = await addMember(sql, TESTER, communityId, { name: 'Ada' })

  const settings = {
    DATABASE_URL: databaseUrl,
    SECRET_KEY,
    NODE_EXTRA_CA_CERTS: receiver.caFile,
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'on',
    LOG_LEVEL: 'error',
  }
  const server = await startKillable({ ...settings, ROLE: 'all' })
  const worker = await startKillable({ ...settings, ROLE: 'worker' })
  const base = server.url
  const token = await fetchToken(base, partner)
  const subscribed = await callNode(base, '/webhooks/subscriptions', {
    token,
    body: { event_types: ['wallet.*'], target_url: `https://localhost:${receiver.port}/hook` },
  })
  expect(subscribed.status).toBe(201)

  let begun = 0
  let made = 0
  let kills = 0
  async function write(): Promise<void> {
    while (begun < CREDITS) {
      const body = { user_id: memberId, hours: 0.01, reference: `tx-${(begun += 1)}` }
      // A lost answer is asked for again; the reference makes it one credit.
      while (!(await attempt(() => callNode(base, '/wallet/credit', { token, body })))) await pause(RETRY_MS)
      made += 1
    }
  }
  async function rollBack(): Promise<void> {
    for (let n = 0; n < ROLLED_BACK; n++) {
      await expect(
        transaction(sql, async (tx) => {
          const data = { user_id: memberId, balance_centihours: 0, version: 1 }
          await recordEvents(tx, communityId, [{ type: 'wallet.balance_changed', memberId, data }])
          throw new Error('rolled back')
        }),
      ).rejects.toThrow('rolled back')
      await pause(RETRY_MS)
    }
  }
  async function kill(): Promise<void> {
    for (let next = CREDITS_PER_KILL; next < CREDITS; next += CREDITS_PER_KILL) {
      await eventually(() => made >= next)
      await pause(Math.random() * RETRY_MS)
      kills += 1
      await (Math.random() < 0.5 ? server : worker).killAndRestart()
    }
  }
  await Promise.all([kill(), rollBack(), ...Array.from({ length: WRITERS }, write)])
  const restartedAtMs = performance.now()

  const committed = (await sql`select uuid from events where type = 'wallet.credited'`).map(({ uuid }) => `evt_${uuid}`)
  const arrived = () => new Set(receiver.received.map(({ id }) => id))
  await eventually(() => arrived().size >= committed.length)
  const transfers = await sql`select from transfers`
  expect(transfers).toHaveLength(CREDITS)
  expect([...arrived()].toSorted()).toEqual(committed.toSorted())
  const left = await sql`select from deliveries where status <> 'delivered'`
  console.log(
    `${kills} kills, ${committed.length} events, ${receiver.received.length - committed.length} arrived twice, ` +
      `${left.length} not yet noted, all there ${Math.round(performance.now() - restartedAtMs)} ms after the last restart`,
  )
})

async function attempt(call: () => Promise<{ status: number }>): Promise<boolean> {
  try {
    const { status } = await call()
    return status === 200 || status === 201
  } catch {
    return false
  }
}
