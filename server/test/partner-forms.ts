import { expect } from 'vitest'
import { type TestAdmin } from './admin.ts'
import { callNode, type Bank } from './bank.ts'

export const NEW_PARTNER = {
  name: 'Riverside Bank',
  contact: 'Ada, +43 1 234',
  scopes: ['users.read', 'wallet.write'],
  rate_limit_per_minute: 30,
  hours_per_day: 12.5,
  allowed_addresses: ['127.0.0.0/8', '2001:db8::/32'],
}

export async function lastAudit({ sql, communityId }: Bank) {
  const [row] = await sql`
    select actor_kind, actor_id, action, subject_kind, subject_id, detail from audit_log
    where community_id = ${communityId} order by id desc limit 1`
  return row!
}

/** Whether client id and secret still open the door, and what the answer says. */
export async function tryToken(bank: Bank, client_id: string, client_secret: string) {
  return callNode(bank.url, '/oauth/token', { body: { grant_type: 'client_credentials', client_id, client_secret } })
}

export async function makePartner(owner: TestAdmin, input: object = {}) {
  const { status, body } = await owner.call('/partners', { body: { ...NEW_PARTNER, ...input } })
  expect(status).toBe(201)
  return body.data as { partner_id: number; client_id: string; client_secret: string; token_url: string }
}
