import { readFile } from 'node:fs/promises'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { type Sql, transaction } from '../src/postgres/connect.ts'
import type { Caller } from '../src/http/partner/access.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { createPartner } from '../src/features/partners/create-partner.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { createCreditBatcher } from '../src/features/wallet/credit-member.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { reverseCredit } from '../src/features/wallet/reverse-credit.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { TESTER } from './bank.ts'

export interface Books {
  id: number
  slug: string
  partnerId: number
  /** Three who trade, one who never does. */
  members: number[]
  idle: number
  exchange: number
  adjustment: number
  reversal: number
  /** Transfers of credits; the second is reversed by the partner. */
  credits: number[]
  creditReversal: number
}

let communities = 0

/** A community with a bit of everything. */
export async function keepBooks(sql: Sql): Promise<Books> {
  const slug = `town-${++communities}`
  const { id } = await createCommunity(sql, TESTER, { slug, name: slug, timeZone: 'Europe/Vienna' })
  const partner = await createPartner(sql, TESTER, id, { name: 'Bank', scopes: SCOPE_NAMES })
  const members: number[] = []
  for (const name of ['Anna', 'Bilal', 'Carla', 'Dora']) members.push((await addMember(sql, TESTER, id, { name })).id)
  const [anna, bilal, carla, dora] = members as [number, number, number, number]
  const caller = await callerOf(sql, id, partner.partnerId)
  const credit = createCreditBatcher(sql)
  await credit(caller, { user_id: anna, hours: 5, reference: 'first' })
  await credit(caller, { user_id: anna, hours: 5, reference: 'second', settled_on: '2026-01-30' })
  // In one batch: posted in this order, and numbered by reference, as up to this migration.
  await define(sql, '0053_time_of_credits')
  await Promise.all(
    ['z', 'm', 'b', 'y', 'a'].map((reference, n) => credit(caller, { user_id: bilal, hours: n + 1, reference })),
  )
  await define(sql, '0054_locked_before_read')
  const [exchange] = await recordExchanges(sql, TESTER, id, [
    { giverId: anna, receiverId: bilal, centihours: 150 },
    { giverId: carla, receiverId: anna, centihours: 325 },
    { giverId: bilal, receiverId: carla, centihours: 25 },
  ])
  const adjustment = await adjustBalance(sql, TESTER, id, { memberId: carla, centihours: -100, reason: 'test' })
  const wrong = await adjustBalance(sql, TESTER, id, { memberId: carla, centihours: 900, reason: 'mistyped' })
  const reversal = await reverseTransfer(sql, TESTER, id, { transferId: wrong.id, reason: 'mistyped' })
  await reverseCredit(sql, caller, { reference: 'second', reversal_reference: 'back' })
  const transfers = await sql<{ id: number }[]>`
    select t.id from transfers t join credits c on c.community_id = ${id} and c.transfer_id = t.id
    where t.community_id = ${id} and c.reference in ('first', 'second') order by t.id`
  const [back] = await sql<[{ transfer_id: number }]>`
    select transfer_id from credit_reversals where community_id = ${id}`
  return {
    id,
    slug,
    partnerId: partner.partnerId,
    members: [anna, bilal, carla],
    idle: dora,
    exchange: exchange!.id,
    adjustment: adjustment.id,
    reversal: reversal.id,
    credits: transfers.map((transfer) => transfer.id),
    creditReversal: back.transfer_id,
  }
}

/** Replaces the function that credits hours by that of a migration, without its choice of plans, with which Citus fails. */
async function define(sql: Sql, migration: string): Promise<void> {
  const text = await readFile(new URL(`../migrations/${migration}.sql`, import.meta.url), 'utf8')
  await sql.unsafe(text.replace('set plan_cache_mode = force_generic_plan', ''))
}

async function callerOf(sql: Sql, communityId: number, partnerId: number): Promise<Caller> {
  const [client] = await sql<[{ id: number; public_id: string }]>`
    select id, public_id from clients where community_id = ${communityId} and partner_id = ${partnerId}`
  return {
    communityId,
    partnerId,
    clientId: client.id,
    clientPublicId: client.public_id,
    scopes: SCOPE_NAMES,
  } as unknown as Caller
}

/** With foreign keys and checks of triggers out of the way. */
export async function tamper(sql: Sql, change: (tx: Sql) => Promise<unknown>): Promise<void> {
  await transaction(sql, async (tx) => {
    // So that the next setting reaches the workers of a cluster, where the foreign keys are.
    await tx`set local citus.propagate_set_commands = 'local'`
    await tx`set local session_replication_role = replica`
    await change(tx as unknown as Sql)
  })
}
