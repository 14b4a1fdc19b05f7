import { pino } from 'pino'
import { expect } from 'vitest'
import { closeDueCommunities } from '../src/features/aggregates/close-due-periods.ts'
import { connect } from '../src/postgres/connect.ts'
import { addAdmin, type TestAdmin } from './admin.ts'
import { eventually, startBank, type Bank } from './bank.ts'
import { copyCommunity } from './many-communities.ts'
import { testOnOneServer } from './one-server.ts'

const COMMUNITIES = 2000
/** Transactions that are counted: some seconds of a node at rest. */
const TRANSACTIONS = 40
const PAGES = ['/session', '/overview', '/members', '/partners', '/webhooks']

/** Rows and index entries read per transaction. Unlike a time, it does not depend on the machine. */
async function countRowsRead({ sql }: Bank, during: () => Promise<unknown> = async () => {}): Promise<number> {
  await sql`select pg_stat_reset()`
  const counted = await eventually(async () => {
    await during()
    const [row] = await sql<[{ transactions: number; rows: number }]>`
      select (select xact_commit from pg_stat_database where datname = current_database())::float8 as transactions,
        (select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) from pg_stat_user_tables)::float8 as rows`
    return row.transactions >= TRANSACTIONS && row
  })
  return counted.rows / counted.transactions
}

async function openPages(admin: TestAdmin): Promise<void> {
  for (const page of PAGES) expect((await admin.call(page)).status).toBe(200)
}

const COUNTS_ROWS = 'A coordinator does not count the rows that its workers read.'
const NO_MORE_ROWS =
  'neither a node at rest nor a page of the console reads more rows with 2,000 communities than with one'

testOnOneServer(COUNTS_ROWS, NO_MORE_ROWS, async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const subscribed = await bank.call('/webhooks/subscriptions', {
    token: await bank.token(),
    body: { event_types: ['*'], target_url: 'https://receiver.test/hook' },
  })
  expect(subscribed.status).toBe(201)
  // So that no month is left to close.
  await closeDueCommunities(bank.sql, pino({ level: 'silent' }), new Date(), () => false)
  const [rest, pages] = [await countRowsRead(bank), await countRowsRead(bank, () => openPages(admin))]

  // On a connection of its own, which reports what it read when it ends.
  const copying = connect(bank.databaseUrl, { connectionsMax: 1, name: 'test copying' })
  await copyCommunity(copying, bank.communityId, COMMUNITIES)
  const [there] = await copying`select (select count(*)::int4 from communities) as communities,
    (select count(*)::int4 from subscriptions) as subscriptions`
  await copying.end()
  const sessions = () => bank.sql`select from pg_stat_activity where application_name = 'hourbank test copying'`
  await eventually(async () => (await sessions()).length === 0)
  expect(there).toEqual({ communities: COMMUNITIES, subscriptions: COMMUNITIES })
  // The ledger's job reads all communities once, if it has not found a moment without open transactions before.
  const restWithMany = Math.min(await countRowsRead(bank), await countRowsRead(bank))
  const pagesWithMany = await countRowsRead(bank, () => openPages(admin))
  // A scan of the communities, once a second, would be some hundred rows per transaction.
  expect(restWithMany).toBeLessThan(2 * rest + 5)
  expect(pagesWithMany).toBeLessThan(2 * pages + 5)
})
