import { describe, expect, test } from 'vitest'
import { identifier } from '../src/postgres/connect.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { eventually, fetchToken, startBank, TESTER, type Bank } from './bank.ts'
import { NEW_PARTNER, lastAudit, tryToken, makePartner } from './partner-forms.ts'

describe('the switch of the partner API', () => {
  test('rejects partners immediately with the reason when off, and accepts them when on again', async () => {
    const bank = await startBank()
    const [owner, viewer] = [await addAdmin(bank), await addAdmin(bank, 'viewer')]
    const token = await bank.token()
    const wrong = await owner.call('/partner-api', { body: { enabled: false, reason: ' ' } })
    expect([wrong.status, wrong.body.errors[0].field]).toEqual([422, 'reason'])
    expect((await bank.call('/users', { token })).status).toBe(200)

    await owner.call('/partner-api', { body: { enabled: false, reason: 'Moving house' } })
    const refused = await bank.call('/users', { token })
    expect([refused.status, refused.body.error]).toEqual([503, 'partner_api_disabled'])
    expect(refused.body.error_description).toContain('Moving house')
    expect((await viewer.call('/partner-api')).body.data).toEqual({ enabled: false, reason: 'Moving house' })
    expect(await lastAudit(bank)).toMatchObject({ action: 'partner_api.disabled', detail: { reason: 'Moving house' } })

    await owner.call('/partner-api', { body: { enabled: true } })
    expect((await bank.call('/users', { token })).status).toBe(200)
    expect((await viewer.call('/partner-api')).body.data).toEqual({ enabled: true, reason: null })
  })
})

test('only owners change anything, and nobody anything of another community', async () => {
  const bank = await startBank()
  const elsewhere = await createCommunity(bank.sql, TESTER, { slug: 'elsewhere', name: 'Elsewhere' })
  const theirs = await bank.addPartner({}, elsewhere.id)
  const { partnerId, clientId } = bank.partner
  const changes: [path: string, options: { method?: string; body?: object }][] = [
    ['/partners', { body: NEW_PARTNER }],
    [`/partners/${partnerId}`, { method: 'PATCH', body: { name: 'X' } }],
    [`/partners/${partnerId}/clients`, { body: {} }],
    [`/clients/${clientId}/rotate`, { body: { grace: 'none' } }],
    [`/clients/${clientId}/end-grace`, { method: 'POST' }],
    [`/clients/${clientId}/keys`, { body: { public_key: 'x' } }],
    [`/clients/${clientId}/keys/x`, { method: 'DELETE' }],
    [`/clients/${clientId}/jwks-url`, { body: { jwks_url: 'x' } }],
    [`/clients/${clientId}/revoke`, { method: 'POST' }],
    ['/partner-api', { body: { enabled: false, reason: 'X' } }],
    ['/test-communities', { body: { name: 'X' } }],
    ['/communities/town?confirm=town', { method: 'DELETE' }],
  ]
  for (const role of ['viewer', 'manager'] as const) {
    const admin = await addAdmin(bank, role)
    for (const [path, options] of changes) {
      expect((await admin.call(path, options)).body.error, `${role} ${path}`).toBe('role_insufficient')
    }
    for (const path of ['/partners', `/partners/${partnerId}`, '/partner-api']) {
      expect((await admin.call(path)).status, path).toBe(200)
    }
  }
  for (const [path, options] of [...changes, ['/partners', {}], [`/partners/${partnerId}`, {}]] as typeof changes) {
    expect((await newBrowser(bank).call(path, options)).body.error, path).toBe('sign_in_required')
  }
  const owner = await addAdmin(bank)
  for (const id of [theirs.partnerId, 987_654, 'x', 0]) {
    expect((await owner.call(`/partners/${id}`)).status).toBe(404)
    expect((await owner.call(`/partners/${id}`, { method: 'PATCH', body: { name: 'X' } })).status).toBe(404)
    expect((await owner.call(`/partners/${id}/clients`, { body: {} })).status).toBe(404)
  }
  for (const id of [theirs.clientId, 'hbc_1_0000000000000000', 'x']) {
    expect((await owner.call(`/clients/${id}/rotate`, { body: { grace: 'none' } })).status).toBe(404)
    expect((await owner.call(`/clients/${id}/end-grace`, { method: 'POST' })).status).toBe(404)
    expect((await owner.call(`/clients/${id}/revoke`, { method: 'POST' })).status).toBe(404)
    expect((await owner.call(`/clients/${id}/keys/x`, { method: 'DELETE' })).status).toBe(404)
    const jwks_url = 'https://keys.example.org/'
    expect((await owner.call(`/clients/${id}/jwks-url`, { body: { jwks_url } })).status).toBe(404)
  }
  expect((await owner.call('/communities/elsewhere/partners')).status).toBe(404)
  expect((await tryToken(bank, theirs.clientId, theirs.clientSecret)).status).toBe(200)
})

describe('a test community', () => {
  test('is made for the caller with people and credentials that work, and removed without a trace but one', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const before = await countAtRest(bank)
    const { status, body } = await owner.call('/test-communities', { body: { name: 'Flussbank übt' } })
    expect(status).toBe(201)
    const { slug, client_id: clientId, client_secret: clientSecret } = body.data
    expect(slug).toBe('test-flussbank-ubt')
    const { communities } = (await owner.call('/session')).body.data
    expect(communities).toMatchObject([{ slug: 'town' }, { slug, role: 'owner', test: true, name: 'Flussbank übt' }])

    const token = await fetchToken(bank.url, { partnerId: 0, clientId, clientSecret })
    const members = (await bank.call('/users?limit=1', { token })).body.data
    const credit = { user_id: members[0].id, hours: 1, reference: 'r-1' }
    expect((await bank.call('/wallet/credit', { token, body: credit })).status).toBe(201)
    expect(await lastAudit(bank)).toMatchObject({ action: 'test_community.created', detail: { slug } })

    const there = `/communities/${slug}`
    expect((await owner.call(there, { method: 'DELETE' })).status).toBe(422)
    const unconfirmed = await owner.call(`${there}?confirm=${slug}x`, { method: 'DELETE' })
    expect([unconfirmed.status, unconfirmed.body.errors[0].field]).toEqual([422, 'confirm'])
    expect((await bank.call('/users?limit=1', { token })).status).toBe(200)

    expect((await owner.call(`${there}?confirm=${slug}`, { method: 'DELETE' })).body).toEqual({ data: {} })
    expect((await bank.call('/users?limit=1', { token })).status).toBe(401)
    expect((await tryToken(bank, clientId, clientSecret)).status).toBe(401)
    expect((await owner.call(`${there}/partners`)).status).toBe(404)
    expect(await lastAudit(bank)).toMatchObject({
      action: 'test_community.removed',
      actor_id: owner.id,
      detail: { slug },
    })
    const after = await countAll(bank)
    expect(after).toEqual({ ...before, audit_log: before.audit_log! + 2, admin_sessions: after.admin_sessions })
  })

  test('has a name, and a slug that is still free', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const nameless = await owner.call('/test-communities', { body: { name: ' ' } })
    expect([nameless.status, nameless.body.errors[0].field]).toEqual([422, 'name'])
    const slugs = []
    for (let n = 0; n < 2; n++) {
      slugs.push((await owner.call('/test-communities', { body: { name: '日本' } })).body.data.slug)
    }
    expect(slugs).toEqual(['test-community', 'test-community-2'])
    const inner = await owner.call('/communities/test-community/test-communities', { body: { name: 'Inner' } })
    expect(inner.body.error).toBe('refused')
  })

  test('a real community cannot be removed', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    expect((await owner.call('/communities/town?confirm=town', { method: 'DELETE' })).body.error).toBe('refused')
    expect((await owner.call('/partners')).status).toBe(200)
  })

  test('is removed while its partner credits: each credit is made or refused, nothing is left', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const before = await countAtRest(bank)
    const { data } = (await owner.call('/test-communities', { body: { name: 'Busy' } })).body
    const token = await fetchToken(bank.url, {
      partnerId: 0,
      clientId: data.client_id,
      clientSecret: data.client_secret,
    })
    const [member] = (await bank.call('/users?limit=1', { token })).body.data
    const stopped = new AbortController()
    const statuses = new Set<number>()
    const credit = async (worker: number) => {
      for (let n = 0; !stopped.signal.aborted; n++) {
        const body = { user_id: member.id, hours: 0.01, reference: `${worker}-${n}` }
        statuses.add((await bank.call('/wallet/credit', { token, body })).status)
      }
    }
    const busy = [1, 2, 3, 4].map(credit)
    const removed = await owner.call(`/communities/${data.slug}?confirm=${data.slug}`, { method: 'DELETE' })
    stopped.abort()
    await Promise.all(busy)
    expect(removed.status).toBe(200)
    expect([...statuses].filter((status) => ![201, 401, 404, 429].includes(status))).toEqual([])
    const after = await countAll(bank)
    const { audit_log: _recorded, admin_sessions: _seen, ...rest } = before
    expect(after).toMatchObject(rest)
  })
})

/** After the node has written what it writes when it starts. */
async function countAtRest(bank: Bank): Promise<Record<string, number>> {
  await eventually(async () => (await bank.sql`select from aggregate_documents`).length === 1)
  return countAll(bank)
}

/** The rows of every table. */
async function countAll({ sql }: Bank): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select relname::text as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
      and relname not in ('call_groups', 'schema_migrations') order by 1`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await sql<[{ count: number }]>`select count(*) from ${identifier(name)}`
    counts[name] = row.count
  }
  return counts
}

test('every scope can be given', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const { partner_id } = await makePartner(owner, { scopes: SCOPE_NAMES })
  expect((await owner.call(`/partners/${partner_id}`)).body.data.scopes).toEqual(SCOPE_NAMES)
})
