import { expect, test } from 'vitest'
import type { CommunityRow } from '../src/features/communities/queries.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { importMembers } from '../src/features/members/import-members.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { TESTER } from './bank.ts'
import { lines, load, newCommunity, sql } from './csv-communities.ts'
import { openTransaction, someoneWaits } from './lock-table.ts'

const FILE = lines('external_id;name;opening_balance', 'K-1;Ada;1.234,50', 'K-2;Ben;-2,25', 'K-3;Cleo;', 'K-4;Dora;0')
const SUM = 123_225

async function balancesOf({ id }: CommunityRow) {
  const rows = await sql<{ external_id: string; balance: number }[]>`
    select m.external_id, w.balance from members m join accounts w on w.community_id = ${id} and w.member_id = m.id
    where m.community_id = ${id} order by m.id`
  return Object.fromEntries(rows.map(({ external_id, balance }) => [external_id, balance]))
}

const transfersOf = ({ id }: CommunityRow) => sql<{ id: number; kind: string; amount: number; note: string }[]>`
  select t.id, t.kind, t.amount, n.note from transfers t
  left join transfer_notes n on n.community_id = ${id} and n.transfer_id = t.id
  where t.community_id = ${id} order by t.id`

test('each becomes one adjustment against the community, with the file as its reason, and the books balance', async () => {
  const community = await newCommunity()
  const dry = await load(importMembers, community, FILE, { dryRun: true })
  expect(dry.summary).toMatchObject({ added: 4, written: false, openings: { count: 2, centihours: SUM } })
  expect(await transfersOf(community)).toEqual([])

  const { summary } = await load(importMembers, community, FILE, { fileName: 'Liste 2026.csv' })
  expect(summary).toMatchObject({ written: true, openings: { count: 2, centihours: SUM } })
  expect(await balancesOf(community)).toEqual({ 'K-1': 123_450, 'K-2': -225, 'K-3': 0, 'K-4': 0 })
  const note = 'Opening balance from Liste 2026.csv'
  expect(await transfersOf(community)).toMatchObject([
    { kind: 'adjustment', amount: 123_450, note },
    { kind: 'adjustment', amount: 225, note },
  ])
  const audit = await sql`
    select detail from audit_log where community_id = ${community.id} and action = 'balance.adjusted' order by id`
  expect(audit.map(({ detail }) => detail.centihours)).toEqual([123_450, -225])
  expect(await verifyLedger(sql, community.id)).toMatchObject({ differences: [] })
})

test('the same file again records nothing, and another balance for a member who has one is rejected', async () => {
  const community = await newCommunity()
  await load(importMembers, community, FILE)
  const again = await load(importMembers, community, FILE)
  expect(again.summary).toMatchObject({ unchanged: 4, written: true, openings: { count: 0, centihours: 0 } })
  expect(await transfersOf(community)).toHaveLength(2)

  const other = FILE.replace('-2,25', '3').replace('Cleo;', 'Cleo;1,5').replace('1.234,50', '0')
  const { summary, fates } = await load(importMembers, community, other)
  expect(summary).toMatchObject({ refused: 2, written: false })
  expect(fates.map(({ reason }) => reason)).toEqual([
    'The opening balance of this member is already 1234.5 h. Adjust the balance instead.',
    'The opening balance of this member is already -2.25 h. Adjust the balance instead.',
  ])
  // Who has none yet gets it later.
  await load(importMembers, community, other, { skipBad: true })
  expect(await balancesOf(community)).toEqual({ 'K-1': 123_450, 'K-2': -225, 'K-3': 150, 'K-4': 0 })
})

test('after its reversal, an opening balance can be imported again', async () => {
  const community = await newCommunity()
  await load(importMembers, community, FILE)
  const [first] = await transfersOf(community)
  await reverseTransfer(sql, TESTER, community.id, { transferId: first!.id, reason: 'Wrong column' })
  const corrected = FILE.replace('1.234,50', '12')
  expect((await load(importMembers, community, corrected)).summary).toMatchObject({ changed: 1, unchanged: 3 })
  expect(await balancesOf(community)).toMatchObject({ 'K-1': 1_200 })
  await expect(load(importMembers, community, FILE)).resolves.toMatchObject({ summary: { refused: 1 } })
})

test('two imports of the same file at once record each balance once', async () => {
  const community = await newCommunity()
  await load(importMembers, community, lines('external_id,name', 'K-1,Ada', 'K-2,Ben', 'K-3,Cleo', 'K-4,Dora'))
  const both = await Promise.allSettled([load(importMembers, community, FILE), load(importMembers, community, FILE)])
  const failed = both.filter(({ status }) => status === 'rejected')
  for (const { reason } of failed as PromiseRejectedResult[]) expect(reason.message).toContain('import again')
  expect(await transfersOf(community)).toHaveLength(2)
  expect(await balancesOf(community)).toMatchObject({ 'K-1': 123_450, 'K-2': -225 })
})

test('who is erased while an import waits for them gets no opening balance', async () => {
  const community = await newCommunity()
  await load(importMembers, community, lines('external_id,name', 'K-1,Ada', 'K-2,Ben', 'K-3,Cleo', 'K-4,Dora'))
  const [ada] = await sql<[{ id: number }]>`
    select id from members where community_id = ${community.id} and external_id = 'K-1'`
  const office = await openTransaction(sql)
  await eraseMember(office.tx, TESTER, community.id, ada.id)
  const importing = load(importMembers, community, FILE)
  await someoneWaits(sql, '%from accounts%')
  await office.commit()

  expect((await importing).summary).toMatchObject({ written: true })
  const [wallet] = await sql<[{ balance: number }]>`
    select balance from accounts where community_id = ${community.id} and member_id = ${ada.id}`
  expect(wallet.balance).toBe(0)
  expect(await transfersOf(community)).toMatchObject([{ amount: 225 }])
  expect(await balancesOf(community)).toMatchObject({ 'K-2': -225 })
})

test('who is erased while an import waits for them is skipped, whatever else it changes', async () => {
  const community = await newCommunity()
  await load(importMembers, community, lines('external_id,name', 'K-1,Ada', 'K-2,Ben'))
  const [ada] = await sql<[{ id: number }]>`
    select id from members where community_id = ${community.id} and external_id = 'K-1'`
  const office = await openTransaction(sql)
  await eraseMember(office.tx, TESTER, community.id, ada.id)
  const importing = load(
    importMembers,
    community,
    lines('external_id,name,status', 'K-1,Ada,inactive', 'K-2,Ben,inactive'),
  )
  await someoneWaits(sql, '%from accounts%')
  await office.commit()

  expect((await importing).summary).toMatchObject({ written: true })
  const states =
    await sql`select status, erased_at is null as here from members where community_id = ${community.id} order by id`
  expect(states.map(({ status, here }) => [status, here])).toEqual([
    ['inactive', false],
    ['inactive', true],
  ])
})

test('what is not hours is rejected with its line', async () => {
  const community = await newCommunity()
  const { fates } = await load(
    importMembers,
    community,
    lines('external_id;name;opening_balance', '1;A;0,125', '2;B;x'),
  )
  const reason = 'The opening balance must be hours like 1.234,50, with at most two decimals.'
  expect(fates).toEqual([
    { line: 2, outcome: 'refused', reason },
    { line: 3, outcome: 'refused', reason },
  ])
})
