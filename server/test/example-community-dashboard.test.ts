import { expect, test } from 'vitest'
import { closeDuePeriods } from '../src/features/aggregates/close-due-periods.ts'
import { publishListing } from '../src/features/listings/change-listing.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { readmeCommand, runCommand, settingsFor } from './example-commands.ts'

const FOUNDERS = 40
const FOUNDED = '2023-01-02T12:00:00Z'
const NEWCOMERS = 12
const JOINED = '2024-01-02T12:00:00Z'
const AFTER_CLOSE = '2024-02-12T00:00:00Z'
const HOSTILE = '<img src=x onerror="alert(1)">'

/** Twelve new members with a listing each, in a category with a hostile name; nobody has exchanged anything. */
async function foundTown(): Promise<Bank> {
  const bank = await startBank({ config: { role: 'api' } })
  const { sql, communityId } = bank
  await sql`update communities set created_at = ${FOUNDED}, time_zone = 'UTC' where id = ${communityId}`
  for (let n = 0; n < FOUNDERS; n++) await addMember(sql, TESTER, communityId, { name: `Founder ${n}` })
  await sql`update members set recorded_at = ${FOUNDED} where community_id = ${communityId}`
  for (let n = 0; n < NEWCOMERS; n++) {
    const { id } = await addMember(sql, TESTER, communityId, { name: `Member ${n}` })
    await publishListing(sql, TESTER, communityId, {
      member_id: id,
      type: 'service',
      title: 'Bread',
      description: '',
      category: HOSTILE,
      centihours: null,
      external_id: null,
    })
  }
  await sql`
    update members set recorded_at = ${JOINED} where community_id = ${communityId} and name not like 'Founder%'`
  await closeDuePeriods(sql, communityId, new Date(AFTER_CLOSE))
  return bank
}

test('the page shows ranges, marks what is suppressed, and holds neither secrets nor anything from elsewhere', async () => {
  const town = await foundTown()
  const dashboard = runCommand(readmeCommand('community-dashboard', 'main.ts'), settingsFor(town.url, town.partner))
  await dashboard.printed('/\n')
  const [, address] = /The dashboard is at (\S+)/.exec(dashboard.output()) ?? []

  const answer = await fetch(address!)
  const page = await answer.text()
  expect(answer.status).toBe(200)
  expect(page).toMatch(/Active members<\/dt>\s*<dd class="range">50 to 59</)
  expect(page).toMatch(/2024-01<\/th>.*?10 to 19 members/s)
  // Twelve services are told, no request is: not as zero either.
  expect(page).toMatch(/Requests<\/dt>\s*<dd class="suppressed">fewer than ten, or too few members</)
  expect(page).toMatch(/<h2>Exchanges<\/h2>.*?url\(#hatch\).*?fewer than ten, or too few members.*?<\/section>/s)
  expect(page).not.toMatch(/<(td|dd)[^>]*>\s*0\b/)
  expect(page).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;')
  expect(page).not.toContain('<img')

  expect(page).not.toContain(town.partner.clientId)
  expect(page).not.toContain(town.partner.clientSecret)
  expect(page).not.toMatch(/https?:|<script|\/\/\w/)
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
  expect((await fetch(new URL('/style.css', address))).headers.get('content-type')).toMatch('text/css')

  // Asked again, Hourbank says that nothing changed, and so does the page.
  const again = await fetch(address!, { headers: { 'if-none-match': answer.headers.get('etag')! } })
  expect(again.status).toBe(304)
  expect(dashboard.output()).toContain('/aggregates/community 304')

  await town.node.close()
  const without = await fetch(address!)
  expect(await without.text()).toMatch(/these are older figures.*10 to 19 members/s)
})
