import { expect, test } from 'vitest'
import { closeDuePeriods } from '../src/features/aggregates/close-due-periods.ts'
import { monthAfter } from '../src/features/aggregates/published.ts'
import { connect } from '../src/postgres/connect.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { closeListing, publishListing } from '../src/features/listings/change-listing.ts'
import { addMember, hideMember, leave, returnMember, showMember } from '../src/features/members/change-member.ts'
import { createPartner } from '../src/features/partners/create-partner.ts'
import { insertCredits, startPartnerDays } from '../src/features/wallet/insert-credits.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { TESTER } from './bank.ts'
import { newDatabase } from './database.ts'
import { prober, attackerOf } from './aggregates-attackers.ts'
import { type Deed, ATTACKER, CARE_NETWORK, TOWN_HALL, dice, live } from './aggregates-lives.ts'
import { FIRST_MONTH, nameOf, closingTime, observe } from './aggregates-worlds.ts'

// ---- The database agrees ---------------------------------------------------------------------------------------------

const ZONE_HOURS_MAX = 14

test('over two years, the database counts what the simulation counts, and answers the same to the byte', async () => {
  const life = live(3, 34, 24)
  const { answers } = observe(life, prober(3, 34))
  const sql = connect(await newDatabase(), { connectionsMax: 1, name: 'test' })
  const { id: communityId } = await createCommunity(sql, TESTER, {
    slug: 'town',
    name: 'Town',
    timeZone: 'Europe/Vienna',
  })
  await sql`
    update communities set created_at = ${`${FIRST_MONTH}-01T12:00:00Z`}, lower_limit_centihours = -100000000
    where id = ${communityId}`
  const partners = new Map<number, number>()
  for (const partner of [ATTACKER, CARE_NETWORK, TOWN_HALL]) {
    const { partnerId } = await createPartner(sql, TESTER, communityId, { name: `${partner}`, scopes: SCOPE_NAMES })
    await sql`
      update partners set daily_limit_centihours = 1000000000 where community_id = ${communityId} and id = ${partnerId}`
    await startPartnerDays(sql, communityId, [partnerId])
    partners.set(partner, partnerId)
  }
  const members = new Map<number, number>()
  const done = new Map<Deed, number>()
  const { next } = dice(11)

  const happen = async (deed: Deed): Promise<void> => {
    const month = nameOf(deed.month)
    // Anywhere in the month that is the same month in every zone.
    const from = Date.parse(`${month}-01T00:00:00Z`) + ZONE_HOURS_MAX * 3_600_000
    const until = Date.parse(`${monthAfter(month)}-01T00:00:00Z`) - ZONE_HOURS_MAX * 3_600_000
    const at = new Date(from + next() * (until - from)).toISOString()
    const stamp = (id: number) =>
      sql`update transfers set created_at = ${at} where community_id = ${communityId} and id = ${id}`
    if (deed.kind === 'join') {
      const { id } = await addMember(sql, TESTER, communityId, { name: `Member ${deed.member}` })
      await sql`update members set recorded_at = ${at} where community_id = ${communityId} and id = ${id}`
      members.set(deed.member, id)
    } else if (deed.kind === 'leave') {
      await leave(sql, TESTER, communityId, members.get(deed.member)!)
    } else if (deed.kind === 'return') {
      await returnMember(sql, TESTER, communityId, members.get(deed.member)!)
    } else if (deed.kind === 'hide') {
      await hideMember(sql, TESTER, communityId, members.get(deed.member)!)
    } else if (deed.kind === 'show') {
      await showMember(sql, TESTER, communityId, members.get(deed.member)!)
    } else if (deed.kind === 'exchange') {
      const [posted] = await recordExchanges(sql, TESTER, communityId, [
        {
          giverId: members.get(deed.giver)!,
          receiverId: members.get(deed.receiver)!,
          centihours: deed.centihours,
          ...(deed.backdated && { occurredOn: '2020-02-29' }),
        },
      ])
      done.set(deed, posted!.id)
      await stamp(posted!.id)
    } else if (deed.kind === 'credit') {
      const partnerId = partners.get(deed.partner)!
      const [client] = await sql<[{ id: number }]>`
        select id from clients where community_id = ${communityId} and partner_id = ${partnerId}`
      const reference = `credit ${done.size}`
      const memberId = members.get(deed.member)!
      const [row] = await insertCredits(sql, communityId, [
        { partnerId, clientId: client.id, memberId, amount: deed.centihours, reference, note: null, settledOn: null },
      ])
      expect(row!.outcome).toBe('created')
      const [credit] = await sql<[{ transfer_id: number }]>`
        select transfer_id from credits where community_id = ${communityId} and reference = ${reference}`
      done.set(deed, credit.transfer_id)
      await stamp(credit.transfer_id)
    } else if (deed.kind === 'reversal') {
      const transferId = done.get(deed.of)!
      await stamp((await reverseTransfer(sql, TESTER, communityId, { transferId, reason: 'A mistake' })).id)
    } else if (deed.kind === 'publish') {
      const { id } = await publishListing(sql, TESTER, communityId, {
        member_id: members.get(deed.member)!,
        type: deed.type,
        title: 'Something',
        description: '',
        category: deed.category,
        centihours: null,
        external_id: null,
      })
      done.set(deed, id)
    } else if (deed.kind === 'close') {
      await closeListing(sql, TESTER, communityId, done.get(deed.of)!)
    }
  }

  const told: string[] = []
  const attackerDoes = attackerOf(prober(3, 34))
  for (let month = 0; month < life.months; month++) {
    for (const deed of life.deeds) if (deed.month === month) await happen(deed)
    for (const deed of attackerDoes(month, told)) await happen(deed)
    await closeDuePeriods(sql, communityId, closingTime(nameOf(month)))
    const [row] = await sql<[{ body: string }]>`
      select body from aggregate_documents where community_id = ${communityId}`
    told.push(row.body)
    expect(row.body).toBe(answers[month])
  }
  expect(told.at(-1)).toContain('"min"')
  await sql.end()
})
