import { connect } from '../server/src/postgres/connect.ts'
import { searchListings } from '../server/src/features/listings/search-listings.ts'
import { findMembers, listMembers } from '../server/src/features/members/queries.ts'
import { insertCredits } from '../server/src/features/wallet/insert-credits.ts'
import { findBalances } from '../server/src/features/wallet/queries.ts'
import { SEARCH_WORD, type GrownTown } from './growth-towns.ts'

const VIEW = { withEmail: false }

export interface Plan {
  operation: string
  text: string
}

/** Runs the service's own statements in the largest town and returns PostgreSQL's plans. */
export async function explainOperations({
  service,
  communityId,
  partnerId,
  clientId,
  members,
  lateMemberId,
}: Pick<GrownTown, 'service' | 'communityId' | 'partnerId' | 'clientId' | 'members' | 'lateMemberId'>) {
  let heard: string[] = []
  const sql = connect(service.databaseUrl, {
    connectionsMax: 1,
    name: 'plans',
    onNotice: (message) => void heard.push(message),
  })
  await sql`load 'auto_explain'`
  for (const [name, value] of Object.entries({
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    client_min_messages: 'log',
  })) {
    await sql`select set_config(${name}, ${value}, false)`
  }
  const page = { list: '', filters: {}, epoch: '', since: undefined, horizon: undefined }
  const [memberId] = members as [number]
  const statements: Record<string, () => Promise<unknown>> = {
    'first page': () => listMembers(sql, communityId, { ...page, limit: 100, after: undefined }, undefined, VIEW),
    'page at 90 %': () =>
      listMembers(sql, communityId, { ...page, limit: 100, after: { id: lateMemberId } }, undefined, VIEW),
    member: () => findMembers(sql, communityId, [memberId], VIEW),
    balance: () => findBalances(sql, communityId, [memberId]),
    search: () => searchListings(sql, communityId, { limit: 25, after: undefined }, { q: SEARCH_WORD }),
    credit: () =>
      insertCredits(sql, communityId, [
        { partnerId, clientId, memberId, amount: 1, reference: 'plan', note: null, settledOn: null },
      ]),
  }
  const plans: Plan[] = []
  // One connection, so that everything runs in one transaction that is rolled back.
  await sql`begin`
  for (const [operation, run] of Object.entries(statements)) {
    await run()
    heard = []
    await run()
    // Omits the text of the statement, which is in the source.
    const text = heard.map((message) => message.replace(/^[\s\S]*?\n(?=[A-Z][A-Za-z -]* {2}\(cost)/, '')).join('\n')
    plans.push({ operation, text })
  }
  await sql`rollback`
  await sql.end()
  return plans
}
