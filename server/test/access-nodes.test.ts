import { describe, expect, onTestFinished, test } from 'vitest'
import { captureLog } from './capture-log.ts'
import { connect } from '../src/postgres/connect.ts'
import { openListener } from '../src/postgres/listener.ts'
import { openAccessCache } from '../src/http/partner/access.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { announceChange } from './announce.ts'
import { eventually, fetchToken, startBank, startTestNode, TESTER, type TestPartner } from './bank.ts'
import { newDatabase } from './database.ts'
import { hourbank, serveAsProcess } from './command-line.ts'
import { startFlakyProxy } from './flaky-proxy.ts'
import { credentials } from './oauth.ts'
import { startPgBouncer } from './pgbouncer.ts'
import { isCacheTrusted, statusOf, startCountingBank, startCachingBank } from './access-calls.ts'

describe('many nodes', () => {
  test('a token revoked on one node has ended on all others before the response', async () => {
    const { bank: first } = await startCachingBank()
    const second = await startTestNode(first.databaseUrl)
    await eventually(() => isCacheTrusted(second.url))
    const token = await first.token()
    expect([await statusOf(first.url, token), await statusOf(second.url, token)]).toEqual([200, 200])
    const { status } = await first.call('/oauth/revoke', { body: { token, ...credentials(first.partner) } })
    expect(status).toBe(200)
    expect([await statusOf(second.url, token), await statusOf(first.url, token)]).toEqual([401, 401])
  })

  test('a change is answered when a node that hears nothing no longer trusts its cache', async () => {
    const { bank: first } = await startCachingBank()
    const proxy = await startFlakyProxy(first.databaseUrl)
    const second = await startTestNode(first.databaseUrl, { config: { listenUrl: proxy.url } })
    await eventually(() => isCacheTrusted(second.url))
    const token = await first.token()
    expect(await statusOf(second.url, token)).toBe(200)
    proxy.freeze()
    const { status } = await first.call('/oauth/revoke', { body: { token, ...credentials(first.partner) } })
    expect(status).toBe(200)
    expect(await statusOf(second.url, token)).toBe(401)
  })

  test('a node that hears nothing itself answers a change when no other trusts its cache any longer', async () => {
    const databaseUrl = await newDatabase()
    const proxies = [await startFlakyProxy(databaseUrl), await startFlakyProxy(databaseUrl)] as const
    const first = await startBank({ databaseUrl, config: { listenUrl: proxies[0].url } })
    const second = await startTestNode(databaseUrl, { config: { listenUrl: proxies[1].url } })
    const token = await first.token()
    proxies[0].freeze()
    await eventually(async () => !(await isCacheTrusted(first.url)))
    await eventually(() => isCacheTrusted(second.url))
    expect(await statusOf(second.url, token)).toBe(200)
    proxies[1].freeze()
    const { status } = await first.call('/oauth/revoke', { body: { token, ...credentials(first.partner) } })
    expect(status).toBe(200)
    expect(await statusOf(second.url, token)).toBe(401)
  })

  test('access withdrawn on the command line ends within a second in every process', async () => {
    const { bank } = await startCachingBank()
    const process = await serveAsProcess(bank.databaseUrl)
    await eventually(() => isCacheTrusted(process))
    const [suspended, revoked, untouched] = [bank.partner, await bank.addPartner(), await bank.addPartner()]
    const urls = [bank.url, process]
    const tokens = new Map<TestPartner, string[]>()
    for (const partner of [suspended, revoked, untouched]) {
      tokens.set(partner, await Promise.all(urls.map((url) => fetchToken(url, partner))))
    }
    const statuses = (partner: TestPartner) =>
      Promise.all(urls.flatMap((url) => tokens.get(partner)!.map((token) => statusOf(url, token))))
    for (const partner of tokens.keys()) expect(await statuses(partner)).toEqual([200, 200, 200, 200])

    await hourbank(bank.databaseUrl, 'partner', 'suspend', `${suspended.partnerId}`, '--community', 'town')
    await eventually(async () => (await statuses(suspended)).every((status) => status === 401))
    await hourbank(bank.databaseUrl, 'client', 'revoke', revoked.clientId)
    await eventually(async () => (await statuses(revoked)).every((status) => status === 401))
    expect(await statuses(untouched)).toEqual([200, 200, 200, 200])
  })
})

describe('when the listening connection fails', () => {
  test('behind a pooler that swallows LISTEN, the service works without trusting its cache, and misses no change', async () => {
    const databaseUrl = await newDatabase()
    const direct = connect(databaseUrl, { connectionsMax: 2, name: 'test' })
    onTestFinished(() => direct.end())
    let echoes = 0
    const listener = openListener(databaseUrl)
    onTestFinished(() => listener.close())
    listener.listen('hourbank_access', {
      onMessage: (payload) => void (echoes += Number(payload.startsWith('echo:'))),
    })

    const { log, lines } = captureLog()
    const { bank, lookupsSinceLast } = await startCountingBank({ databaseUrl: await startPgBouncer(databaseUrl), log })
    await eventually(() => echoes > 3)
    const token = await bank.token()
    lookupsSinceLast()
    for (let use = 0; use < 3; use++) expect(await statusOf(bank.url, token)).toBe(200)
    expect(lookupsSinceLast()).toBe(3)
    expect(await isCacheTrusted(bank.url)).toBe(false)

    const { partnerId } = bank.partner
    await changePartner(direct, TESTER, bank.communityId, partnerId, { status: 'suspended' })
    expect(await statusOf(bank.url, token)).toBe(401)
    await changePartner(direct, TESTER, bank.communityId, partnerId, { status: 'active' })
    expect(await statusOf(bank.url, token)).toBe(200)
    await eventually(() => lines.some((line) => line.includes('no notifications arrive')))
  })

  test('with a direct connection for listening, the cache is trusted behind a pooler', async () => {
    const databaseUrl = await newDatabase()
    const { bank, lookupsSinceLast } = await startCachingBank({
      databaseUrl: await startPgBouncer(databaseUrl),
      config: { listenUrl: databaseUrl },
    })
    const token = await bank.token()
    await eventually(async () => {
      lookupsSinceLast()
      return (await statusOf(bank.url, token)) === 200 && lookupsSinceLast() === 0
    })
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { status: 'suspended' })
    await eventually(async () => (await statusOf(bank.url, token)) === 401)
  })

  test('a listener that ends at the moment of a change hides it for a second at most', async () => {
    const { bank } = await startCachingBank()
    const token = await bank.token()
    for (const [status, expected] of [
      ['suspended', 401],
      ['active', 200],
      ['suspended', 401],
    ] as const) {
      await eventually(() => isCacheTrusted(bank.url))
      await statusOf(bank.url, token)
      await eventually(async () => {
        // Waits until it is gone.
        const ended = await bank.sql`
          select pg_terminate_backend(pid, 5000) from pg_stat_activity
          where datname = current_database() and application_name = 'hourbank listening'`
        return ended.length === 1
      })
      await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { status })
      await eventually(async () => (await statusOf(bank.url, token)) === expected)
    }
  })

  test.each(['cut', 'freeze'] as const)(
    'while the listening connection is down (%s), every request queries the database; then the cache is used again',
    async (failure) => {
      const databaseUrl = await newDatabase()
      const proxy = await startFlakyProxy(databaseUrl)
      const { bank, lookupsSinceLast } = await startCachingBank({ databaseUrl, config: { listenUrl: proxy.url } })
      const other = await bank.addPartner()
      const [token, others] = [await bank.token(), await bank.token(undefined, other)]
      expect([await statusOf(bank.url, token), await statusOf(bank.url, others)]).toEqual([200, 200])

      proxy[failure]()
      await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { status: 'suspended' })
      await eventually(async () => (await statusOf(bank.url, token)) === 401)
      expect(await isCacheTrusted(bank.url)).toBe(false)
      lookupsSinceLast()
      for (let use = 0; use < 3; use++) expect(await statusOf(bank.url, others)).toBe(200)
      expect(lookupsSinceLast()).toBe(3)

      proxy.restore()
      await eventually(() => isCacheTrusted(bank.url))
      await eventually(async () => (await statusOf(bank.url, others)) === 200 && lookupsSinceLast() === 0)
      expect(await statusOf(bank.url, token)).toBe(401)
    },
  )

  test('a node starts without its listening connection, and uses the cache once there is one', async () => {
    const databaseUrl = await newDatabase()
    const proxy = await startFlakyProxy(databaseUrl)
    proxy.cut()
    const { log, entries } = captureLog()
    const { bank } = await startCountingBank({ databaseUrl, config: { listenUrl: proxy.url }, log })
    const reports = () =>
      entries()
        .filter(({ msg }) => String(msg).startsWith('the connection for notifications'))
        .map(({ msg }) => msg)
    await eventually(() => reports().length > 0)
    expect(await statusOf(bank.url, await bank.token())).toBe(200)
    expect(await isCacheTrusted(bank.url)).toBe(false)
    proxy.restore()
    await eventually(() => isCacheTrusted(bank.url))
    // Once per outage, although it tries twice a second.
    expect(reports()).toEqual([
      'the connection for notifications is away; trying again',
      'the connection for notifications is back',
    ])
  })
})

test('caches of a community are cleared when its access changes', async () => {
  const { sql, databaseUrl, communityId } = await startBank()
  const listener = openListener(databaseUrl)
  const access = openAccessCache({ sql, listener, background: sql, changing: [] })
  onTestFinished(() => {
    access.close()
    listener.close()
  })
  await eventually(() => access.isCacheTrusted())
  const told: unknown[] = []
  access.onChange((changed) => told.push(changed))
  await announceChange(sql, { communityId, tokenHash: 'ab' })
  await announceChange(sql, { communityId })
  await eventually(() => told.length > 0)
  expect(told).toEqual([communityId])
})
