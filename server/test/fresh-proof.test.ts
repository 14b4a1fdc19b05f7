import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { addAdmin, PASSWORD } from './admin.ts'
import { callNode, eventually, startBank } from './bank.ts'
import { readOperations, pathFor, requestFor } from './matrix-operations.ts'
import { startWorld } from './matrix-world.ts'

const document = JSON.parse(readFileSync(new URL('../../console/openapi.json', import.meta.url), 'utf8'))
const SENSITIVE = readOperations('console/openapi.json', '/api/admin/v1').filter(
  ({ path, method }) => document.paths[path][method.toLowerCase()]['x-fresh-proof'],
)

test('these actions are sensitive', () => {
  expect(SENSITIVE.map(({ name }) => name.replace('/communities/{slug}', '')).toSorted()).toEqual([
    'DELETE /administrators/{id}',
    'DELETE /second-factor/app',
    'DELETE /second-factor/passkeys/{id}',
    'GET /members/export',
    'GET /session/proof',
    'PATCH /administrators/{id}',
    'POST /administrators',
    'POST /administrators/{id}/reset-link',
    'POST /clients/{client_id}/jwks-url',
    'POST /clients/{client_id}/keys',
    'POST /clients/{client_id}/rotate',
    'POST /invitations/{id}/renew',
    'POST /members/{id}/erase',
    'POST /partners',
    'POST /partners/{id}/clients',
    'POST /second-factor/app',
    'POST /second-factor/app/confirm',
    'POST /second-factor/passkey-options',
    'POST /second-factor/passkeys',
    'POST /second-factor/recovery-codes',
    'POST /test-communities',
    'POST /webhooks',
  ])
})

test('no sensitive action succeeds fifteen minutes after the last proof', async () => {
  const { bank, own } = await startWorld()
  const owner = await addAdmin(bank)
  await bank.sql`update admin_sessions set proven_at = now() - interval '15 minutes' where admin_id = ${owner.id}`
  const ask = (operation: (typeof SENSITIVE)[number]) => {
    const request = requestFor(operation, own.ids)
    const headers = { origin: bank.url, cookie: owner.cookie()!, ...request.headers }
    return callNode(bank.url, pathFor(operation, { ...own.ids, slug: 'town' }), { ...request, headers })
  }
  for (const operation of SENSITIVE) {
    const { status, body } = await ask(operation)
    expect([operation.name, status, body.error]).toEqual([operation.name, 403, 'proof_required'])
  }
  expect((await owner.call('/session/proof', { body: { password: PASSWORD } })).status).toBe(200)
  const erasure = SENSITIVE.find(({ name }) => name.endsWith('/erase'))!
  expect((await ask(erasure)).status).toBe(200)
})

test('withdrawing access waits for no proof; giving it back does', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const partner = await bank.addPartner({ scopes: ['users.read', 'listings.read'], allowedNetworks: ['192.0.2.0/24'] })
  const { client_id } = (await owner.call(`/partners/${partner.partnerId}/clients`, { body: {} })).body.data
  const invited = { email: 'tess@town.example', name: 'Tess', role: 'viewer' }
  const invitation = (await owner.call('/administrators', { body: invited })).body.data.id
  await bank.sql`update admin_sessions set proven_at = now() - interval '15 minutes' where admin_id = ${owner.id}`
  const change = async (body: object) => {
    const answer = await owner.call(`/partners/${partner.partnerId}`, { method: 'PATCH', body })
    return answer.body.error ?? answer.status
  }
  const call = async (path: string, options: object = { method: 'POST' }) => (await owner.call(path, options)).status

  for (const withdrawal of [
    { status: 'suspended' },
    { scopes: ['users.read'] },
    { rate_limit_per_minute: 1 },
    { hours_per_day: 1 },
    { name: 'Bank', contact: 'Somebody' },
  ]) {
    expect([withdrawal, await change(withdrawal)]).toEqual([withdrawal, 200])
  }
  for (const grant of [
    { status: 'active' },
    { scopes: ['users.read', 'listings.read'] },
    { rate_limit_per_minute: 2 },
    { hours_per_day: 2 },
    { allowed_addresses: [] },
    { allowed_addresses: ['192.0.2.0/24', '198.51.100.0/24'] },
  ]) {
    expect([grant, await change(grant)]).toEqual([grant, 'proof_required'])
  }
  expect(await call(`/clients/${client_id}/end-grace`)).not.toBe(403)
  expect(await call(`/clients/${client_id}/revoke`)).toBe(200)
  expect(await call(`/invitations/${invitation}`, { method: 'DELETE' })).toBe(200)
  expect(await call('/partner-api', { body: { enabled: false, reason: 'Leak' } })).toBe(200)
  expect((await owner.call('/partner-api', { body: { enabled: true } })).body.error).toBe('proof_required')
})

test('calls that lack a second factor or a fresh proof are in the audit log', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  await bank.sql`update admin_sessions set proven_at = now() - interval '15 minutes' where admin_id = ${owner.id}`
  const call = async (path: string, options?: object) => (await owner.call(path, options)).body.error
  const invited = { email: 'tess@town.example', name: 'Tess', role: 'viewer' }
  expect(await call('/administrators', { body: invited })).toBe('proof_required')
  await bank.sql`update communities set second_factor_required = true`
  expect(await call('/members')).toBe('second_factor_required')
  const rejected = await eventually(async () => {
    const rows = await bank.sql`select detail, actor_id from audit_log where action = 'admin.rejected' order by id`
    return rows.length === 2 && rows
  })
  const prefix = '/api/admin/v1/communities/:slug'
  expect(rejected).toMatchObject([
    { actor_id: owner.id, detail: { reason: 'proof_required', call: `POST ${prefix}/administrators` } },
    { actor_id: owner.id, detail: { reason: 'second_factor_required', call: `GET ${prefix}/members` } },
  ])
})
