import { expect } from 'vitest'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { chainLedger } from '../src/features/ledger/chain-ledger.ts'
import { addMember } from '../src/features/members/change-member.ts'
import type { Sql } from '../src/postgres/connect.ts'
import { TESTER } from './bank.ts'
import { keepBooks, type Books } from './books.ts'

/** A community with 14 transfers, all of them chained. */
export async function keepChained(sql: Sql): Promise<Books> {
  const books = await keepBooks(sql)
  expect(await chainLedger(sql, books.id)).toBe(14)
  return books
}

export async function positionOf(sql: Sql, communityId: number, transferId: number): Promise<number> {
  const [link] = await sql<[{ position: number }]>`
    select position from ledger_links where community_id = ${communityId} and transfer_id = ${transferId}`
  return link.position
}

/** Far more transfers than a batch, of one adjustment each. */
export async function fillAdjustments(sql: Sql, communityId: number, count: number): Promise<void> {
  const { id: memberId } = await addMember(sql, TESTER, communityId, { name: 'Busy' })
  await sql`
    insert into transfers (community_id, kind, debit_account_id, credit_account_id, amount, credit_balance_after,
      made_by_kind, occurred_on)
    select ${communityId}, 'adjustment', c.id, m.id, 1, n, 'system', '2026-01-01'
    from accounts c, accounts m, generate_series(1, ${count}::int4) n
    where c.community_id = ${communityId} and c.kind = 'community'
      and m.community_id = ${communityId} and m.member_id = ${memberId}
    order by n`
  await sql`
    update accounts set balance = ${count} where community_id = ${communityId} and member_id = ${memberId}`
}

let empty = 0

export async function newCommunity(sql: Sql): Promise<number> {
  const slug = `chain-${++empty}`
  return (await createCommunity(sql, TESTER, { slug, name: slug })).id
}
