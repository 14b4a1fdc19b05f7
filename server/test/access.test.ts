import { describe, expect, onTestFinished, test } from 'vitest'
import { announceAccessChange } from '../src/postgres/channel.ts'
import { connect, transaction } from '../src/postgres/connect.ts'
import { openListener } from '../src/postgres/listener.ts'
import { openAccessCache } from '../src/http/partner/access.ts'
import { hashSecret, newToken } from '../src/crypto/secrets.ts'
import { revokeClient, rotateSecret } from '../src/features/partners/change-client.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import {
  callNode,
  eventually,
  fetchToken,
  startBank,
  startTestNode,
  TESTER,
  type Bank,
  type BankOptions,
  type TestPartner,
} from './bank.ts'
import { announceChange } from './announce.ts'
import { newDatabase } from './database.ts'
import { hourbank, serveAsProcess } from './command-line.ts'
import { startFlakyProxy } from './flaky-proxy.ts'
import { BEHIND_PROXY, credentials, from, tokenRequest } from './oauth.ts'
import { holdOpen } from './lock-table.ts'
import { startPgBouncer } from './pgbouncer.ts'

/** The promise is one second; as much again is for the machine, which runs other tests beside this one. */
const SOON_MS = 2000

/** From this moment on it takes no longer than promised. */
async function soon(ask: () => Promise<boolean>): Promise<void> {
  const sinceMs = performance.now()
  await eventually(ask)
  expect(performance.now() - sinceMs).toBeLessThan(SOON_MS)
}

async function isCacheTrusted(url: string): Promise<boolean> {
  const { body } = await callNode(url, '/metrics')
  return /^hourbank_access_cache_trusted 1$/m.test(body)
}

async function statusOf(url: string, token: string): Promise<number> {
  return (await callNode(url, '/users', { token })).status
}

/** A bank, and how often its node has looked up a token since the test last asked. */
async function startCountingBank(options: BankOptions = {}) {
  let lookups = 0
  const onStatement = (statement: string) => {
    if (/join tokens\b/.test(statement)) lookups += 1
  }
  const bank = await startBank({ ...options, onStatement })
  const lookupsSinceLast = () => {
    const counted = lookups
    lookups = 0
    return counted
  }
  return { bank, lookupsSinceLast }
}

/** The same, once memory is trusted. */
async function startCachingBank(options: BankOptions = {}) {
  const counting = await startCountingBank(options)
  await eventually(() => isCacheTrusted(counting.bank.url))
  return counting
}

async function works(bank: Bank, clientSecret: string): Promise<boolean> {
  const { status } = await bank.call('/oauth/token', tokenRequest({ ...bank.partner, clientSecret }))
  return status === 200
}

describe('who may call', () => {
  test('without credentials, or with those of another scheme: a challenge without an error code', async () => {
    const bank = await startBank()
    for (const headers of [
      {},
      { authorization: 'Basic eDp5' },
      { authorization: '' },
      { authorization: 'Bearers x' },
    ]) {
      const answer = await bank.call('/users', { headers })
      expect({ status: answer.status, error: answer.body.error }).toEqual({
        status: 401,
        error: 'authentication_required',
      })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="hourbank"')
    }
  })

  test('a header that is no bearer token is malformed', async () => {
    const bank = await startBank()
    const token = await bank.token()
    for (const authorization of [
      'Bearer',
      'Bearer ',
      `Bearer ${token} x`,
      `Bearer "${token}"`,
      `Bearer ${token},`,
      'Bearer ==',
    ]) {
      const answer = await bank.call('/users', { headers: { authorization } })
      expect({ authorization, status: answer.status, error: answer.body.error }).toEqual({
        authorization,
        status: 400,
        error: 'invalid_request',
      })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="hourbank", error="invalid_request"')
    }
    expect((await bank.call('/users', { headers: { authorization: `bEARER  ${token}` } })).status).toBe(200)
  })

  test('a token that was never issued is invalid, and nothing is told about why', async () => {
    const bank = await startBank()
    const token = await bank.token()
    for (const wrong of [
      newToken(bank.communityId),
      newToken(999),
      `${token}0`,
      token.slice(0, -1),
      token.toUpperCase(),
      'x',
    ]) {
      const { status, headers, body } = await bank.call('/users', { token: wrong })
      expect({ status, body }).toEqual({
        status: 401,
        body: {
          error: 'invalid_token',
          error_description: 'The access token is not valid.',
          request_id: expect.any(String),
        },
      })
      expect(headers.get('www-authenticate')).toBe('Bearer realm="hourbank", error="invalid_token"')
    }
  })

  test('a token without the scope is told which one is needed', async () => {
    const bank = await startBank()
    const answer = await bank.call('/users', { token: await bank.token('wallet.read') })
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status: 403, error: 'insufficient_scope' })
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer realm="hourbank", error="insufficient_scope", scope="users.read"',
    )
  })

  test('a token works only from the addresses that its partner allows', async () => {
    const bank = await startBank(BEHIND_PROXY)
    const token = await bank.token()
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, {
      allowed_networks: ['192.0.2.0/24'],
    })
    const ask = async (address: string) => (await bank.call('/users', { token, headers: from(address) })).body.error
    await soon(async () => (await ask('198.51.100.1')) === 'ip_not_allowed')
    expect(await ask('192.0.2.200')).toBeUndefined()
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { allowed_networks: [] })
    await soon(async () => (await ask('198.51.100.1')) === undefined)
  })

  test('a token of one community shows nothing of another', async () => {
    const bank = await startBank()
    const villageId = await bank.addCommunity('village')
    const villager = await bank.addPartner({}, villageId)
    await bank.sql`insert into members (community_id, name) values (${bank.communityId}, 'Ada'), (${villageId}, 'Bo')`
    const names = async (partner?: TestPartner) => {
      const { body } = await bank.call('/users', { token: await bank.token(undefined, partner) })
      return body.data.map(({ name }: { name: string }) => name)
    }
    expect([await names(), await names(villager)]).toEqual([['Ada'], ['Bo']])
  })
})

describe('rotation of a secret', () => {
  test('with a grace period the old one works beside the new one, then only the new one', async () => {
    const { bank } = await startCachingBank()
    const { clientId, clientSecret: old } = bank.partner
    const token = await bank.token()
    for (const [grace, seconds] of [
      ['1h', 3600],
      ['24h', 86_400],
      ['7d', 604_800],
    ] as const) {
      await bank.sql`update clients set secret_hash = ${hashSecret(old)}`
      const { clientSecret } = await rotateSecret(bank.sql, TESTER, clientId, grace)
      const [row] = await bank.sql`
        select extract(epoch from previous_secret_until - secret_created_at)::int4 as seconds from clients`
      expect(row!.seconds).toBe(seconds)
      await soon(() => works(bank, clientSecret))
      expect(await works(bank, old)).toBe(true)

      await bank.sql`update clients set previous_secret_until = now() - interval '1 second'`
      await announceChange(bank.sql, { communityId: bank.communityId })
      await soon(async () => !(await works(bank, old)))
      expect(await works(bank, clientSecret)).toBe(true)
    }
    // Who holds a token keeps it: rotation is no loss of access.
    expect(await statusOf(bank.url, token)).toBe(200)
  })

  test('the old one ends with its time even while it is remembered', async () => {
    const { bank } = await startCachingBank()
    const { clientSecret } = await rotateSecret(bank.sql, TESTER, bank.partner.clientId, '1h')
    await bank.sql`update clients set previous_secret_until = now() + interval '500 ms'`
    await announceChange(bank.sql, { communityId: bank.communityId })
    await eventually(() => works(bank, clientSecret))
    await soon(async () => !(await works(bank, bank.partner.clientSecret)))
    expect(await works(bank, clientSecret)).toBe(true)
  })

  test('without grace the old one ends at once', async () => {
    const { bank } = await startCachingBank()
    expect(await works(bank, bank.partner.clientSecret)).toBe(true)
    const { clientSecret } = await rotateSecret(bank.sql, TESTER, bank.partner.clientId, 'none')
    await soon(async () => !(await works(bank, bank.partner.clientSecret)))
    expect(await works(bank, clientSecret)).toBe(true)
  })

  test('twice within the grace period: the first one ends, the last two work', async () => {
    const { bank } = await startCachingBank()
    const second = await rotateSecret(bank.sql, TESTER, bank.partner.clientId, '7d')
    const third = await rotateSecret(bank.sql, TESTER, bank.partner.clientId, '1h')
    await soon(() => works(bank, third.clientSecret))
    expect(await works(bank, second.clientSecret)).toBe(true)
    expect(await works(bank, bank.partner.clientSecret)).toBe(false)
  })
})

describe('live tokens follow at once', () => {
  test('revoking a client ends its tokens and its secret, and nobody else’s', async () => {
    const { bank } = await startCachingBank()
    const other = await bank.addPartner()
    const [token, others] = [await bank.token(), await bank.token(undefined, other)]
    expect([await statusOf(bank.url, token), await statusOf(bank.url, others)]).toEqual([200, 200])
    await revokeClient(bank.sql, TESTER, bank.partner.clientId)
    await soon(async () => (await statusOf(bank.url, token)) === 401)
    expect((await bank.call('/oauth/token', tokenRequest(bank.partner))).status).toBe(401)
    expect(await statusOf(bank.url, others)).toBe(200)
    expect((await bank.call('/users', { token })).body.error_description).toContain('client')
  })

  test('suspending a partner stops its tokens, resuming it brings them back', async () => {
    const { bank } = await startCachingBank()
    const { partnerId } = bank.partner
    const token = await bank.token()
    expect(await statusOf(bank.url, token)).toBe(200)
    await changePartner(bank.sql, TESTER, bank.communityId, partnerId, { status: 'suspended' })
    await soon(async () => (await statusOf(bank.url, token)) === 401)
    expect((await bank.call('/users', { token })).body).toMatchObject({
      error: 'invalid_token',
      error_description: expect.stringContaining('suspended'),
    })
    await changePartner(bank.sql, TESTER, bank.communityId, partnerId, { status: 'active' })
    await soon(async () => (await statusOf(bank.url, token)) === 200)
    expect((await bank.call('/oauth/token', tokenRequest(bank.partner))).status).toBe(200)
  })

  test('narrowing the scopes of a partner narrows what its tokens and new tokens hold', async () => {
    const { bank } = await startCachingBank()
    const token = await bank.token()
    expect(await statusOf(bank.url, token)).toBe(200)
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { scopes: ['wallet.read'] })
    await soon(async () => (await statusOf(bank.url, token)) === 403)
    expect((await bank.call('/oauth/token', tokenRequest(bank.partner))).body.scope).toBe('wallet.read')
  })

  test('widening them again gives a token what it was issued for, and no more', async () => {
    const { bank } = await startCachingBank()
    const [wide, narrow] = [await bank.token(), await bank.token('wallet.read')]
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { scopes: ['wallet.read'] })
    await soon(async () => (await statusOf(bank.url, wide)) === 403)
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, {
      scopes: ['wallet.read', 'users.read'],
    })
    await soon(async () => (await statusOf(bank.url, wide)) === 200)
    expect(await statusOf(bank.url, narrow)).toBe(403)
  })

  test('narrowing the scopes of a client narrows its tokens', async () => {
    const { bank } = await startCachingBank()
    const token = await bank.token()
    expect(await statusOf(bank.url, token)).toBe(200)
    await transaction(bank.sql, async (tx) => {
      await tx`update clients set scopes = '{wallet.read}' where public_id = ${bank.partner.clientId}`
      await announceAccessChange(tx, { communityId: bank.communityId })
    })
    await soon(async () => (await statusOf(bank.url, token)) === 403)
    expect((await bank.call('/oauth/token', tokenRequest(bank.partner))).body.scope).toBe('wallet.read')
  })
})

describe('memory', () => {
  test('a token is looked up once, and then served from memory', async () => {
    const { bank, lookupsSinceLast } = await startCachingBank()
    // Again with another token if the machine stalled so long that memory was given up in between.
    await eventually(async () => {
      const token = await bank.token()
      lookupsSinceLast()
      expect(await statusOf(bank.url, token)).toBe(200)
      expect(lookupsSinceLast()).toBe(1)
      for (let use = 0; use < 5; use++) expect(await statusOf(bank.url, token)).toBe(200)
      return lookupsSinceLast() === 0
    })
  })

  test('only what is live is remembered: a dead token is looked up each time', async () => {
    const { bank, lookupsSinceLast } = await startCachingBank()
    const token = newToken(bank.communityId)
    lookupsSinceLast()
    for (let use = 0; use < 3; use++) expect(await statusOf(bank.url, token)).toBe(401)
    expect(lookupsSinceLast()).toBe(3)
  })

  test('a change in one community leaves the memory of the others as it is', async () => {
    const { bank, lookupsSinceLast } = await startCachingBank()
    const villageId = await bank.addCommunity('village')
    const [token, villagers] = [await bank.token(), await bank.token(undefined, await bank.addPartner({}, villageId))]
    await eventually(async () => {
      await Promise.all([token, villagers].map((one) => statusOf(bank.url, one)))
      await announceChange(bank.sql, { communityId: villageId })
      lookupsSinceLast()
      await eventually(async () => (await statusOf(bank.url, villagers)) === 200 && lookupsSinceLast() === 1)
      expect(await statusOf(bank.url, token)).toBe(200)
      return lookupsSinceLast() === 0
    })
  })

  test('a remembered token ends with its lifetime, without anyone saying so', async () => {
    const { bank } = await startCachingBank()
    const token = await bank.token()
    await bank.sql`update tokens set expires_at = now() + interval '1500 ms'`
    expect(await statusOf(bank.url, token)).toBe(200)
    await soon(async () => (await statusOf(bank.url, token)) === 401)
  })

  test('a look-up that was under way during a change does not bring back what the change removed', async () => {
    const { bank, lookupsSinceLast } = await startCachingBank()
    const token = await bank.token()
    // From here on every look-up of a token waits at a gate, with what it has seen before the gate.
    await bank.sql.unsafe(`
      create function gate() returns boolean language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(7); return true; end $$;
      alter table tokens rename to tokens_stored;
      create view tokens as select * from tokens_stored where gate();`)
    const gate = await holdOpen(bank.sql, 'select pg_advisory_xact_lock(7)')
    lookupsSinceLast()
    const underWay = bank.call('/users', { token })
    await eventually(async () => {
      const [waiting] = await bank.sql`select 1 from pg_locks where locktype = 'advisory' and not granted`
      return waiting !== undefined
    })

    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { status: 'suspended' })
    // The client was remembered since it fetched its token: that it is refused shows that the change was heard.
    await eventually(async () => (await bank.call('/oauth/token', tokenRequest(bank.partner))).status === 401)
    await gate.release()

    // It saw the state before the change, and that is what it answers; but nothing later does.
    expect((await underWay).status).toBe(200)
    expect(lookupsSinceLast()).toBe(1)
    expect(await statusOf(bank.url, token)).toBe(401)
    expect(lookupsSinceLast()).toBe(1)
  })
})

describe('many nodes', () => {
  test('a token revoked on one node has ended on every other within a second', async () => {
    const { bank: first } = await startCachingBank()
    const second = await startTestNode(first.databaseUrl)
    await eventually(() => isCacheTrusted(second.url))
    const token = await first.token()
    expect([await statusOf(first.url, token), await statusOf(second.url, token)]).toEqual([200, 200])
    const { status } = await first.call('/oauth/revoke', { body: { token, ...credentials(first.partner) } })
    expect(status).toBe(200)
    await soon(async () => (await statusOf(second.url, token)) === 401)
    expect(await statusOf(first.url, token)).toBe(401)
  })

  test('what is withdrawn from the command line has ended within a second in every process', async () => {
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
    await soon(async () => (await statuses(suspended)).every((status) => status === 401))
    await hourbank(bank.databaseUrl, 'client', 'revoke', revoked.clientId)
    await soon(async () => (await statuses(revoked)).every((status) => status === 401))
    expect(await statuses(untouched)).toEqual([200, 200, 200, 200])
  })
})

describe('when the listening connection fails', () => {
  test('behind a pooler that swallows LISTEN the service works, but trusts no memory and misses no change', async () => {
    const databaseUrl = await newDatabase()
    const direct = connect(databaseUrl, { connectionsMax: 2, name: 'test' })
    onTestFinished(() => direct.end())
    let echoes = 0
    const listener = openListener(databaseUrl)
    onTestFinished(() => listener.close())
    listener.listen('hourbank_access', {
      onMessage: (payload) => void (echoes += Number(payload.startsWith('echo:'))),
    })

    const { bank, lookupsSinceLast } = await startCountingBank({ databaseUrl: await startPgBouncer(databaseUrl) })
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
  })

  test('a direct connection for listening makes memory behind a pooler trusted again', async () => {
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
    await soon(async () => (await statusOf(bank.url, token)) === 401)
  })

  test('a listener that is ended in the very moment of a change hides it for a second at most', async () => {
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
      await soon(async () => (await statusOf(bank.url, token)) === expected)
    }
  })

  test.each(['cut', 'freeze'] as const)(
    'while the listening connection is out of order (%s), every request asks the database; then memory is used again',
    async (failure) => {
      const databaseUrl = await newDatabase()
      const proxy = await startFlakyProxy(databaseUrl)
      const { bank, lookupsSinceLast } = await startCachingBank({ databaseUrl, config: { listenUrl: proxy.url } })
      const other = await bank.addPartner()
      const [token, others] = [await bank.token(), await bank.token(undefined, other)]
      expect([await statusOf(bank.url, token), await statusOf(bank.url, others)]).toEqual([200, 200])

      proxy[failure]()
      await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { status: 'suspended' })
      await soon(async () => (await statusOf(bank.url, token)) === 401)
      expect(await isCacheTrusted(bank.url)).toBe(false)
      lookupsSinceLast()
      for (let use = 0; use < 3; use++) expect(await statusOf(bank.url, others)).toBe(200)
      expect(lookupsSinceLast()).toBe(3)

      proxy.mend()
      await eventually(() => isCacheTrusted(bank.url))
      await eventually(async () => (await statusOf(bank.url, others)) === 200 && lookupsSinceLast() === 0)
      expect(await statusOf(bank.url, token)).toBe(401)
    },
  )

  test('a node starts without its listening connection, and uses memory once there is one', async () => {
    const databaseUrl = await newDatabase()
    const proxy = await startFlakyProxy(databaseUrl)
    proxy.cut()
    const { bank } = await startCountingBank({ databaseUrl, config: { listenUrl: proxy.url } })
    expect(await statusOf(bank.url, await bank.token())).toBe(200)
    expect(await isCacheTrusted(bank.url)).toBe(false)
    proxy.mend()
    await eventually(() => isCacheTrusted(bank.url))
  })
})

test('whoever keeps something of a community is told when its access changes', async () => {
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
