import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { createPartner } from '../src/features/partners/create-partner.ts'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { callNode, eventually, fetchToken, SECRET_KEY, TESTER } from './bank.ts'
import { startKillable } from './killable-service.ts'
import { hasPostgres15, startPair } from './postgres-servers.ts'
import { startReceiver } from './receiver.ts'
import { startRedis } from './redis.ts'
import { isFullVolume } from './volume.ts'

const WRITERS = 8
const RETRY_MS = 20
/** Every part is killed so many times in turn, each time after so many more credits. */
const [ROUNDS, CREDITS_PER_KILL] = isFullVolume ? [5, 400] : [1, 40]

describe.skipIf(!hasPostgres15)('a cluster (needs postgresql-15)', () => {
  test('with nodes, workers, Redis and the primary killed under load, no credit and no event is lost or doubled', async () => {
    const [primary, standby] = await startPair()
    const databaseUrl = `postgres://postgres@${primary.host},${standby.host}/postgres`
    const sql = connect(databaseUrl, { connectionsMax: 2, name: 'test' })
    onTestFinished(() => sql.end({ timeoutMs: 0 }))
    const [receiver, redis, town] = [await startReceiver(), await startRedis(), await makeTown(sql)]
    const settings = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redis.url,
      SECRET_KEY,
      NODE_EXTRA_CA_CERTS: receiver.caFile,
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'on',
      LOG_LEVEL: 'fatal',
    }
    const nodes = [await startKillable({ ...settings, ROLE: 'api' }), await startKillable({ ...settings, ROLE: 'all' })]
    const worker = await startKillable({ ...settings, ROLE: 'worker' })
    const token = await fetchToken(nodes[0]!.url, town.partner)
    const subscribed = await callNode(nodes[0]!.url, '/webhooks/subscriptions', {
      token,
      body: { event_types: ['wallet.*'], target_url: `https://localhost:${receiver.port}/hook` },
    })
    expect(subscribed.status).toBe(201)

    const acknowledged: string[] = []
    let lastAcknowledgedAtMs = 0
    let begun = 0
    const stop = new AbortController()
    async function write(): Promise<void> {
      while (!stop.signal.aborted) {
        const reference = `tx-${(begun += 1)}`
        const body = { user_id: town.memberId, hours: 0.01, reference }
        // After a lost answer or a 503 the other node is asked; the reference makes it one credit.
        for (let attempt = begun; ; attempt += 1) {
          if (await isAcknowledged(nodes[attempt % nodes.length]!.url, token, body)) break
          await pause(RETRY_MS)
        }
        acknowledged.push(reference)
        lastAcknowledgedAtMs = performance.now()
      }
    }
    const moreCredits = () => {
      const enough = acknowledged.length + CREDITS_PER_KILL
      return eventually(() => acknowledged.length >= enough)
    }
    const writing = Array.from({ length: WRITERS }, write)
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const kill of [worker.killAndRestart, nodes[round % 2]!.killAndRestart, redis.kill, redis.restart]) {
        await moreCredits()
        await kill()
      }
    }
    await moreCredits()
    await primary.kill()
    const killedAtMs = performance.now()
    await standby.promote()
    const promotedAtMs = performance.now()
    await eventually(() => lastAcknowledgedAtMs > promotedAtMs)
    const recoveredAtMs = performance.now()
    await moreCredits()
    stop.abort()
    await Promise.all(writing)

    const credits = await sql<{ reference: string; transfers: number }[]>`
      select c.reference, (select count(*) from transfers t where t.community_id = c.community_id
        and t.id = c.transfer_id)::int4 as transfers
      from credits c where c.community_id = ${town.communityId}`
    const [books] = await sql<[{ transfers: number; balance: number }]>`
      select (select count(*) from transfers where community_id = ${town.communityId})::int4 as transfers,
        (select balance from accounts where community_id = ${town.communityId} and member_id = ${town.memberId}) as balance`
    const stored = new Set(credits.map(({ reference }) => reference))
    const lost = acknowledged.filter((reference) => !stored.has(reference)).length
    const duplicated = Math.max(books.transfers, books.balance, credits.length) - stored.size
    const events = await sql<{ uuid: string }[]>`
      select uuid from events where community_id = ${town.communityId} and type = 'wallet.credited'`
    const missing = () => {
      const arrived = new Set(receiver.received.map(({ id }) => id))
      return events.filter(({ uuid }) => !arrived.has(`evt_${uuid}`)).length
    }
    await eventually(() => missing() === 0).catch(() => {})

    console.log(
      `cluster: ${acknowledged.length} credits acknowledged, ${lost} lost, ${duplicated} duplicated, ` +
        `${missing()} of ${events.length} events missing, recovered in ${seconds(recoveredAtMs - killedAtMs)} s ` +
        `(${seconds(recoveredAtMs - promotedAtMs)} s after the promotion)`,
    )
    expect({ lost, duplicated, missing: missing() }).toEqual({ lost: 0, duplicated: 0, missing: 0 })
    expect([books.transfers, books.balance, events.length]).toEqual([stored.size, stored.size, stored.size])
    expect(stored.size).toBe(acknowledged.length)
  })
})

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}

async function makeTown(sql: Sql) {
  const { id: communityId } = await createCommunity(sql, TESTER, { slug: 'town', name: 'Town' })
  const partner = await createPartner(sql, TESTER, communityId, {
    name: 'Bank',
    scopes: SCOPE_NAMES,
    rateLimitPerMinute: 1_000_000,
  })
  const { id: memberId } = await addMember(sql, TESTER, communityId, { name: 'Ada' })
  return { communityId, partner, memberId }
}

async function isAcknowledged(url: string, token: string, body: object): Promise<boolean> {
  try {
    const { status } = await callNode(url, '/wallet/credit', { token, body })
    return status === 200 || status === 201
  } catch {
    return false
  }
}
