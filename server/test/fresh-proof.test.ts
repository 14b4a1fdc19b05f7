import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { addAdmin, PASSWORD } from './admin.ts'
import { callNode } from './bank.ts'
import { readOperations, pathFor, requestFor } from './matrix-operations.ts'
import { startWorld } from './matrix-world.ts'

const document = JSON.parse(readFileSync(new URL('../../console/openapi.json', import.meta.url), 'utf8'))
const SENSITIVE = readOperations('console/openapi.json', '/api/admin/v1').filter(
  ({ path, method }) => document.paths[path][method.toLowerCase()]['x-fresh-proof'],
)

test('these actions are sensitive', () => {
  expect(SENSITIVE.map(({ name }) => name.replace('/communities/{slug}', '')).toSorted()).toEqual([
    'DELETE /administrators/{id}',
    'DELETE /clients/{client_id}/keys/{thumbprint}',
    'DELETE /invitations/{id}',
    'DELETE /partners/{id}',
    'DELETE /second-factor/app',
    'DELETE /second-factor/passkeys/{id}',
    'GET /members/export',
    'GET /session/proof',
    'PATCH /administrators/{id}',
    'PATCH /partners/{id}',
    'POST /administrators',
    'POST /administrators/{id}/reset-link',
    'POST /clients/{client_id}/end-grace',
    'POST /clients/{client_id}/jwks-url',
    'POST /clients/{client_id}/keys',
    'POST /clients/{client_id}/revoke',
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
