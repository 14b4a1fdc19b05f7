import { expect, test } from 'vitest'
import { changeSettings } from '../src/features/communities/change-settings.ts'
import { addMember, leave, returnMember } from '../src/features/members/change-member.ts'
import { correctExchange } from '../src/features/wallet/correct-exchange.ts'
import { createCreditBatcher } from '../src/features/wallet/credit-member.ts'
import { startPartnerDays } from '../src/features/wallet/insert-credits.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { deletePartner } from '../src/features/partners/change-partner.ts'
import type { Caller } from '../src/http/partner/access.ts'
import { eventually, startBank, TESTER, type Bank } from './bank.ts'
import { holdOpen, openTransaction, waitingSessions } from './lock-table.ts'

/*
 * Credits lock wallets and days, then read them in another statement. Whatever appears in between is not locked, and
 * another node may be changing it.
 */

async function start() {
  const bank = await startBank()
  const add = async (name: string) => (await addMember(bank.sql, TESTER, bank.communityId, { name })).id
  return { bank, ada: await add('Ada'), ben: await add('Ben'), cleo: await add('Cleo') }
}

/** Credits that are waiting for a lock. */
const waitingCredits = (bank: Bank, count: number) =>
  eventually(async () => (await waitingSessions(bank.sql, '%insert_credits%')).length === count)

/** Stops credits when they have read all they need and have written nothing, where they stamp their change. */
const holdBeforeWriting = ({ sql, communityId }: Bank) =>
  holdOpen(sql, `select pg_advisory_xact_lock(4711010, ${communityId})`)

async function callerOf({ sql, communityId }: Bank, { partnerId }: { partnerId: number }): Promise<Caller> {
  const [client] = await sql<[{ id: number }]>`
    select id from clients where community_id = ${communityId} and partner_id = ${partnerId}`
  return { communityId, partnerId, clientId: client.id, scopes: [] } as Partial<Caller> as Caller
}

test('a wallet that becomes active while a credit of it waits loses nothing', async () => {
  const { bank, ada, cleo } = await start()
  const other = await bank.addPartner()
  const [token, otherToken] = [await bank.token(), await bank.token(undefined, other)]
  await leave(bank.sql, TESTER, bank.communityId, cleo)
  await startPartnerDays(bank.sql, bank.communityId, [bank.partner.partnerId, other.partnerId])

  const held = await openTransaction(bank.sql)
  await held.tx`select 1 from accounts where community_id = ${bank.communityId} and member_id = ${ada} for update`
  const credits = [ada, cleo].map((user_id) => ({ user_id, hours: 1, reference: `tx-${user_id}` }))
  const batch = bank.call('/wallet/credits/batch', { token, body: { credits } })
  await waitingCredits(bank, 1)
  await returnMember(bank.sql, TESTER, bank.communityId, cleo)
  const gate = await holdBeforeWriting(bank)
  await held.release()
  const body = { user_id: cleo, hours: 2, reference: 'tx-other' }
  const single = bank.call('/wallet/credit', { token: otherToken, body })
  await waitingCredits(bank, 2)
  await gate.release()

  expect((await single).status).toBe(201)
  expect((await batch).body.meta).toEqual({ created: 2, replayed: 0, rejected: 0 })
  expect((await verifyLedger(bank.sql, bank.communityId)).differences).toEqual([])
  const { body: wallet } = await bank.call(`/wallet/balance/${cleo}`, { token })
  expect(wallet.data.balance_hours).toBe(3)
})

test("first credits of a partner's day on two nodes neither deadlock nor exceed its limit", async () => {
  const { bank, ada, ben, cleo } = await start()
  const { sql, communityId, partner } = bank
  const other = await bank.addPartner({ dailyLimitCentihours: 100 })
  await startPartnerDays(sql, communityId, [partner.partnerId])
  const [caller, otherCaller] = [await callerOf(bank, partner), await callerOf(bank, other)]
  const [creditHere, creditThere] = [createCreditBatcher(sql), createCreditBatcher(sql)]

  const held = await openTransaction(sql)
  await held.tx`select 1 from partner_days where community_id = ${communityId} for update`
  // In one statement, because they arrive together.
  const here = Promise.allSettled([
    creditHere(caller, { user_id: ada, hours: 1, reference: 'tx-1' }),
    creditHere(otherCaller, { user_id: cleo, hours: 1, reference: 'tx-2' }),
  ])
  await waitingCredits(bank, 1)
  await startPartnerDays(sql, communityId, [other.partnerId])
  const gate = await holdBeforeWriting(bank)
  await held.release()
  const there = creditThere(otherCaller, { user_id: ben, hours: 1, reference: 'tx-3' })
  await waitingCredits(bank, 2)
  await gate.release()

  expect(await there).toMatchObject({ replayed: false })
  expect(await here).toMatchObject([
    { status: 'fulfilled', value: { replayed: false } },
    { status: 'rejected', reason: { code: 'daily_limit_reached' } },
  ])
  expect(await sql`select partner_id, centihours from partner_days order by partner_id`).toEqual([
    { partner_id: partner.partnerId, centihours: 100 },
    { partner_id: other.partnerId, centihours: 100 },
  ])
})

test('an exchange is corrected while its members are credited', async () => {
  const { bank, ada, ben, cleo } = await start()
  const { sql, communityId } = bank
  const token = await bank.token()
  const slip = { giverId: ben, receiverId: cleo, centihours: 100 }
  const [exchange] = await recordExchanges(sql, TESTER, communityId, [slip])

  const held = await openTransaction(sql)
  await held.tx`select 1 from accounts where community_id = ${communityId} and member_id = ${cleo} for update`
  const correction = correctExchange(
    sql,
    TESTER,
    communityId,
    { transferId: exchange!.id, slip: { ...slip, giverId: ada }, reason: 'It was Ada.' },
    {},
  )
  await eventually(async () => (await waitingSessions(sql, '%from accounts%')).length === 1)
  const credits = [ada, ben].map((user_id) => ({ user_id, hours: 1, reference: `tx-${user_id}` }))
  const batch = bank.call('/wallet/credits/batch', { token, body: { credits } })
  await waitingCredits(bank, 1)
  await held.release()

  await correction
  expect((await batch).body.meta).toEqual({ created: 2, replayed: 0, rejected: 0 })
  expect((await verifyLedger(sql, communityId)).differences).toEqual([])
})

test('a member who joins while the time zone changes is credited on the right day', async () => {
  const { bank } = await start()
  const { sql, communityId } = bank
  const token = await bank.token()
  // 26 hours apart: the same moment is always on two days.
  await changeSettings(sql, TESTER, communityId, { time_zone: 'Etc/GMT+12' })
  const changing = await openTransaction(sql)
  await changeSettings(changing.tx, TESTER, communityId, { time_zone: 'Pacific/Kiritimati' })
  const credit = addMember(sql, TESTER, communityId, { name: 'Dora' }).then(({ id }) =>
    bank.call('/wallet/credit', { token, body: { user_id: id, hours: 1, reference: 'tx-1' } }),
  )
  const isHeld = eventually(async () => (await waitingSessions(sql)).length > 0)
  await Promise.race([credit, isHeld])
  await changing.commit()

  expect((await credit).status).toBe(201)
  expect((await verifyLedger(sql, communityId)).differences).toEqual([])
})

test('two concurrent changes of the time zone both recount the days', async () => {
  const { bank, ada } = await start()
  const { sql, communityId } = bank
  const token = await bank.token()
  await changeSettings(sql, TESTER, communityId, { time_zone: 'Etc/GMT+12' })
  const first = await openTransaction(sql)
  await changeSettings(first.tx, TESTER, communityId, { time_zone: 'Pacific/Kiritimati' })
  // Asks for what the zone still is.
  const second = await openTransaction(sql)
  const back = changeSettings(second.tx, TESTER, communityId, { time_zone: 'Etc/GMT+12' })
  await eventually(async () => (await waitingSessions(sql)).length > 0)
  await first.commit()
  await back
  const credit = bank.call('/wallet/credit', { token, body: { user_id: ada, hours: 1, reference: 'tx-1' } })
  const isHeld = eventually(async () => (await waitingSessions(sql)).length > 0)
  await Promise.race([credit, isHeld])
  await second.commit()

  expect((await credit).status).toBe(201)
  expect((await verifyLedger(sql, communityId)).differences).toEqual([])
})

test('a credit that waits for a new time zone counts for the day there', async () => {
  const { bank, ada } = await start()
  const { sql, communityId, partner } = bank
  const token = await bank.token()
  // 26 hours apart: the same moment is always on two days.
  await changeSettings(sql, TESTER, communityId, { time_zone: 'Etc/GMT+12' })
  await startPartnerDays(sql, communityId, [partner.partnerId])

  const changing = await openTransaction(sql)
  await changeSettings(changing.tx, TESTER, communityId, { time_zone: 'Pacific/Kiritimati' })
  // As if yesterday's credits, too, counted for the day that is today in the old zone.
  await changing.tx`
    insert into partner_days (community_id, partner_id, day)
    values (${communityId}, ${partner.partnerId}, (now() at time zone 'Etc/GMT+12')::date)`
  const credit = bank.call('/wallet/credit', { token, body: { user_id: ada, hours: 1, reference: 'tx-1' } })
  await waitingCredits(bank, 1)
  await changing.commit()

  expect((await credit).status).toBe(201)
  expect((await verifyLedger(sql, communityId)).differences).toEqual([])
})

test('a credit of a partner who has just been deleted fails without the others of its statement', async () => {
  const { bank, ada } = await start()
  const unused = await bank.addPartner()
  const [caller, gone] = [await callerOf(bank, bank.partner), await callerOf(bank, unused)]
  await deletePartner(bank.sql, TESTER, bank.communityId, unused.partnerId)
  const credit = createCreditBatcher(bank.sql)
  const credits = [gone, caller].map((of) => credit(of, { user_id: ada, hours: 1, reference: 'tx' }))
  const outcomes = await Promise.allSettled(credits)
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})
