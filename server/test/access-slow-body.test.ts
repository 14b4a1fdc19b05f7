import { request } from 'node:http'
import { expect, test } from 'vitest'
import { removeAdmin } from '../src/features/admins/change-admin.ts'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { revokeClient } from '../src/features/partners/change-client.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { startCachingBank } from './access-calls.ts'
import { addAdmin } from './admin.ts'
import { eventually, startBank, TESTER, type Bank } from './bank.ts'

/* Access that is withdrawn after the headers of a request have arrived, and before its body has. */

/** Sends the headers and one character of the body; the rest when told. */
function startRequest(url: string, body: string, headers: Record<string, string>, method = 'POST') {
  const sent = request(url, { method, headers: { ...headers, 'content-length': `${Buffer.byteLength(body)}` } })
  const status = new Promise<number>((resolve, reject) => {
    sent.on('response', (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    sent.on('error', reject)
  })
  sent.write(body.slice(0, 1))
  return () => {
    sent.end(body.slice(1))
    return status
  }
}

const WITHDRAWALS: [name: string, status: number, withdraw: (bank: Bank) => Promise<unknown>][] = [
  ['a revoked client', 401, ({ sql, partner }) => revokeClient(sql, TESTER, partner.clientId)],
  [
    'a suspended partner',
    401,
    ({ sql, communityId, partner }) =>
      changePartner(sql, TESTER, communityId, partner.partnerId, { status: 'suspended' }),
  ],
  [
    'a scope taken away',
    403,
    ({ sql, communityId, partner }) =>
      changePartner(sql, TESTER, communityId, partner.partnerId, { scopes: ['users.read'] }),
  ],
  [
    'an address no longer allowed',
    403,
    ({ sql, communityId, partner }) =>
      changePartner(sql, TESTER, communityId, partner.partnerId, { allowed_networks: ['192.0.2.0/24'] }),
  ],
  [
    'the partner API switched off',
    503,
    ({ sql, communityId }) => switchPartnerApi(sql, TESTER, communityId, { enabled: false, reason: 'theft' }),
  ],
]

for (const [name, status, withdraw] of WITHDRAWALS) {
  test(`${name} credits nothing, even if the body arrives later`, async () => {
    const { bank, lookupsSinceLast } = await startCachingBank()
    const token = await bank.token()
    const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
    const body = JSON.stringify({ user_id: id, hours: 1, reference: 'tx-1' })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const finish = startRequest(`${bank.url}${API_PREFIX}/wallet/credit`, body, headers)
    await eventually(async () => lookupsSinceLast() > 0)
    // Answered after the lookup of the same token, so that the first check has passed.
    expect((await bank.call('/users', { token })).status).toBe(200)
    await withdraw(bank)
    await eventually(async () => (await bank.call(`/wallet/balance/${id}`, { token })).status === status)
    expect(await finish()).toBe(status)
    expect(await bank.sql`select from credits`).toEqual([])
  })
}

async function startOffice() {
  let sessionsFound = 0
  const onStatement = (statement: string) => {
    if (/from admin_sessions/.test(statement)) sessionsFound += 1
  }
  const bank = await startBank({ onStatement })
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  await addAdmin(bank)
  const manager = await addAdmin(bank, 'manager')
  return {
    bank,
    id,
    async begin(path: string, body: string, contentType: string, method?: string) {
      const before = sessionsFound
      const headers = { origin: bank.url, cookie: manager.cookie()!, 'content-type': contentType, 'if-match': '*' }
      const finish = startRequest(`${bank.url}${ADMIN_PREFIX}/communities/town${path}`, body, headers, method)
      await eventually(async () => sessionsFound > before)
      // Answered by a later statement, so that the first check has passed.
      expect((await manager.call('/members')).status).toBe(200)
      return finish
    },
    removeManager: () => removeAdmin(bank.sql, TESTER, bank.communityId, manager.id),
  }
}

test('an administrator removed during an upload imports nothing', async () => {
  const { bank, begin, removeManager } = await startOffice()
  const finish = await begin('/members/import', 'external_id,name\r\n1,Eve\r\n', 'text/csv')
  await removeManager()
  expect(await finish()).toBe(404)
  expect(await bank.sql`select name from members`).toEqual([{ name: 'Ada' }])
})

test('an administrator removed while a form arrives changes nothing', async () => {
  const { bank, id, begin, removeManager } = await startOffice()
  const finish = await begin(`/members/${id}`, '{"name":"Eve"}', 'application/json', 'PATCH')
  await removeManager()
  expect(await finish()).toBe(404)
  expect(await bank.sql`select name from members`).toEqual([{ name: 'Ada' }])
})
