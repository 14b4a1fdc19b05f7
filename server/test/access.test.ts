import { describe, expect, test } from 'vitest'
import { announceAccessChange } from '../src/postgres/channel.ts'
import { transaction } from '../src/postgres/connect.ts'
import { hashSecret, hashToken, newToken } from '../src/crypto/secrets.ts'
import { revokeClient, rotateSecret } from '../src/features/partners/change-client.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { announceChange } from './announce.ts'
import { eventually, startBank, TESTER, type TestPartner } from './bank.ts'
import { BEHIND_PROXY, from, tokenRequest } from './oauth.ts'
import { holdOpen, someoneWaits } from './lock-table.ts'
import { statusOf, startCachingBank, works } from './access-calls.ts'
import { testOnOneServer } from './one-server.ts'
import { takeIds } from './take-ids.ts'

const GATE_ON_WORKERS = 'On Citus the gate is on the workers, and advisory locks do not cross nodes.'

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

  test('a header that is not a valid bearer token gets 400', async () => {
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

  test('a token that was never issued is invalid, and the response does not say why', async () => {
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

  test('a token without the scope is rejected with the required scope', async () => {
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
    await eventually(async () => (await ask('198.51.100.1')) === 'ip_not_allowed')
    expect(await ask('192.0.2.200')).toBeUndefined()
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { allowed_networks: [] })
    await eventually(async () => (await ask('198.51.100.1')) === undefined)
  })

  test('a token of one community shows nothing of another', async () => {
    const bank = await startBank()
    const villageId = await bank.addCommunity('village')
    const villager = await bank.addPartner({}, villageId)
    await bank.sql`
      insert into members (community_id, id, name)
      values (${bank.communityId}, ${await takeIds(bank.sql, bank.communityId, 'members')}, 'Ada'),
        (${villageId}, ${await takeIds(bank.sql, villageId, 'members')}, 'Bo')`
    const names = async (partner?: TestPartner) => {
      const { body } = await bank.call('/users', { token: await bank.token(undefined, partner) })
      return body.data.map(({ name }: { name: string }) => name)
    }
    expect([await names(), await names(villager)]).toEqual([['Ada'], ['Bo']])
  })
})

describe('rotation of a secret', () => {
  test('with a grace period, the old secret works beside the new one, then only the new one', async () => {
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
      await eventually(() => works(bank, clientSecret))
      expect(await works(bank, old)).toBe(true)

      await bank.sql`update clients set previous_secret_until = now() - interval '1 second'`
      await announceChange(bank.sql, { communityId: bank.communityId })
      await eventually(async () => !(await works(bank, old)))
      expect(await works(bank, clientSecret)).toBe(true)
    }
    // Who holds a token keeps it: rotation is no loss of access.
    expect(await statusOf(bank.url, token)).toBe(200)
  })

  test('the old secret ends on time even if it is cached', async () => {
    const { bank } = await startCachingBank()
    const { clientSecret } = await rotateSecret(bank.sql, TESTER, bank.partner.clientId, '1h')
    await bank.sql`update clients set previous_secret_until = now() + interval '500 ms'`
    await announceChange(bank.sql, { communityId: bank.communityId })
    await eventually(() => works(bank, clientSecret))
    await eventually(async () => !(await works(bank, bank.partner.clientSecret)))
    expect(await works(bank, clientSecret)).toBe(true)
  })

  test('without a grace period, the old secret ends immediately', async () => {
    const { bank } = await startCachingBank()
    expect(await works(bank, bank.partner.clientSecret)).toBe(true)
    const { clientSecret } = await rotateSecret(bank.sql, TESTER, bank.partner.clientId, 'none')
    await eventually(async () => !(await works(bank, bank.partner.clientSecret)))
    expect(await works(bank, clientSecret)).toBe(true)
  })

  test('after two rotations within the grace period, the last two secrets work and the first does not', async () => {
    const { bank } = await startCachingBank()
    const second = await rotateSecret(bank.sql, TESTER, bank.partner.clientId, '7d')
    const third = await rotateSecret(bank.sql, TESTER, bank.partner.clientId, '1h')
    await eventually(() => works(bank, third.clientSecret))
    expect(await works(bank, second.clientSecret)).toBe(true)
    expect(await works(bank, bank.partner.clientSecret)).toBe(false)
  })
})

describe('changes apply to live tokens immediately', () => {
  test('revoking a client ends its tokens and its secret, and nobody else’s', async () => {
    const { bank } = await startCachingBank()
    const other = await bank.addPartner()
    const [token, others] = [await bank.token(), await bank.token(undefined, other)]
    expect([await statusOf(bank.url, token), await statusOf(bank.url, others)]).toEqual([200, 200])
    await revokeClient(bank.sql, TESTER, bank.partner.clientId)
    await eventually(async () => (await statusOf(bank.url, token)) === 401)
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
    await eventually(async () => (await statusOf(bank.url, token)) === 401)
    expect((await bank.call('/users', { token })).body).toMatchObject({
      error: 'invalid_token',
      error_description: expect.stringContaining('suspended'),
    })
    await changePartner(bank.sql, TESTER, bank.communityId, partnerId, { status: 'active' })
    await eventually(async () => (await statusOf(bank.url, token)) === 200)
    expect((await bank.call('/oauth/token', tokenRequest(bank.partner))).status).toBe(200)
  })

  test('narrowing the scopes of a partner narrows what its tokens and new tokens hold', async () => {
    const { bank } = await startCachingBank()
    const token = await bank.token()
    expect(await statusOf(bank.url, token)).toBe(200)
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { scopes: ['wallet.read'] })
    await eventually(async () => (await statusOf(bank.url, token)) === 403)
    expect((await bank.call('/oauth/token', tokenRequest(bank.partner))).body.scope).toBe('wallet.read')
  })

  test('widening them again gives a token what it was issued for, and no more', async () => {
    const { bank } = await startCachingBank()
    const [wide, narrow] = [await bank.token(), await bank.token('wallet.read')]
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { scopes: ['wallet.read'] })
    await eventually(async () => (await statusOf(bank.url, wide)) === 403)
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, {
      scopes: ['wallet.read', 'users.read'],
    })
    await eventually(async () => (await statusOf(bank.url, wide)) === 200)
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
    await eventually(async () => (await statusOf(bank.url, token)) === 403)
    expect((await bank.call('/oauth/token', tokenRequest(bank.partner))).body.scope).toBe('wallet.read')
  })
})

describe('the access cache', () => {
  test('a token is looked up once, then served from the cache', async () => {
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

  test('only live tokens are cached: a dead token is looked up each time', async () => {
    const { bank, lookupsSinceLast } = await startCachingBank()
    const token = newToken(bank.communityId)
    lookupsSinceLast()
    for (let use = 0; use < 3; use++) expect(await statusOf(bank.url, token)).toBe(401)
    expect(lookupsSinceLast()).toBe(3)
  })

  test('a change in one community leaves cached tokens of other communities in place', async () => {
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

  test('a cached token ends when it expires, without any announcement', async () => {
    const { bank, lookupsSinceLast } = await startCachingBank()
    /** Returns undefined if the whole cache was emptied meanwhile, as after a late echo: then this shows nothing. */
    async function waitForEnd(): Promise<true | undefined> {
      const [ending, lasting] = [await bank.token(), await bank.token()]
      await bank.sql`
        update tokens set expires_at = now() + interval '1500 ms' where hash = decode(${hashToken(ending)}, 'hex')`
      expect(await statusOf(bank.url, lasting)).toBe(200)
      // On a busy machine it may have ended before it was remembered.
      if ((await statusOf(bank.url, ending)) !== 200) return undefined
      await eventually(async () => (await statusOf(bank.url, ending)) === 401, 30_000)
      lookupsSinceLast()
      expect(await statusOf(bank.url, lasting)).toBe(200)
      return lookupsSinceLast() === 0 ? true : undefined
    }
    await eventually(waitForEnd)
  })

  const underWayName = 'a look-up that was under way during a change does not bring back what the change removed'
  testOnOneServer(GATE_ON_WORKERS, underWayName, async () => {
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
    await someoneWaits(bank.sql)

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
