import { expect } from 'vitest'
import { addRole } from '../src/features/admins/create-admin.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { createPartner } from '../src/features/partners/create-partner.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { SCOPE_NAMES, type Scope } from '../src/core/scopes.ts'
import type { Sql } from '../src/postgres/connect.ts'
import { addAdmin, type TestAdmin } from './admin.ts'
import { callNode, fetchToken, startBank, TESTER, type Answer, type Bank, type TestPartner } from './bank.ts'

export const MEMBERS = 3
/** Of a new community. */
export const LOWER_LIMIT = -1000
export const CREDIT_LIMIT = 100_000

export interface MemberModel {
  id: number
  isActive: boolean
  isHidden: boolean
  isErased: boolean
  balance: number
}

export interface CreditModel {
  id: number
  member: MemberModel
  amount: number
  settledOn: string | undefined
  balanceAfter: number
  reversedUnder: string | undefined
}

/** What the service should know. */
export interface Model {
  members: MemberModel[]
  credits: Map<string, CreditModel>
  lastCreditId: number
  partnerScopes: Scope[]
  tokenScopes: Scope[]
}

/** The service, and a community of its own for one sequence. */
export interface Real {
  url: string
  sql: Sql
  databaseUrl: string
  communityId: number
  slug: string
  partner: TestPartner
  token: string
  admin: Pick<TestAdmin, 'call' | 'email'>
}

export interface Sequence {
  model: Model
  real: Real
}

export interface World {
  bank: Bank
  admin: TestAdmin
  sequences: number
}

export async function startWorld(): Promise<World> {
  const bank = await startBank({ config: { role: 'api' } })
  return { bank, admin: await addAdmin(bank), sequences: 0 }
}

export async function startSequence(world: World): Promise<Sequence> {
  const { bank, admin } = world
  const { sql, url, databaseUrl } = bank
  const slug = `town-${(world.sequences += 1)}`
  const { id: communityId } = await createCommunity(sql, TESTER, { slug, name: slug })
  await addRole(sql, TESTER, communityId, admin.id, 'owner', { name: 'Owner', email: admin.email })
  const settings = { name: 'Bank', scopes: SCOPE_NAMES, rateLimitPerMinute: 1_000_000 }
  const partner = await createPartner(sql, TESTER, communityId, settings)
  const members: MemberModel[] = []
  for (let n = 0; n < MEMBERS; n++) {
    const { id } = await addMember(sql, TESTER, communityId, { name: `Member ${n}` })
    members.push({ id, isActive: true, isHidden: false, isErased: false, balance: 0 })
  }
  const token = await fetchToken(url, partner)
  const model: Model = {
    members,
    credits: new Map(),
    lastCreditId: 0,
    partnerScopes: SCOPE_NAMES,
    tokenScopes: SCOPE_NAMES,
  }
  return { model, real: { url, sql, databaseUrl, communityId, slug, partner, token, admin } }
}

/** A call of the partner. */
export function callPartner({ url, token }: Real, path: string, body?: object): Promise<Answer> {
  return callNode(url, path, { token, ...(body && { body }) })
}

/** A call of the office. */
export function callOffice({ admin, slug }: Real, path: string, body: object = {}, method = 'POST'): Promise<Answer> {
  return admin.call(`/communities/${slug}${path}`, { body, method })
}

export function hasScope({ partnerScopes, tokenScopes }: Model, ...anyOf: Scope[]): boolean {
  return anyOf.some((scope) => partnerScopes.includes(scope) && tokenScopes.includes(scope))
}

export const isVisible = ({ isActive, isHidden }: MemberModel) => isActive && !isHidden

/** What must hold after any sequence. */
export async function checkBooks({ model, real }: Sequence): Promise<void> {
  const rows = await real.sql<{ member_id: number; balance: number }[]>`
    select member_id, balance from accounts
    where community_id = ${real.communityId} and member_id is not null order by member_id`
  expect(rows).toEqual(model.members.map(({ id, balance }) => ({ member_id: id, balance })))
  expect((await verifyLedger(real.sql, real.communityId)).differences).toEqual([])
}
