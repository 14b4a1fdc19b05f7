import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { findBalances } from '../src/features/wallet/queries.ts'
import { findMembers, insertMember, listMembers } from '../src/features/members/queries.ts'
import { insertCredits } from '../src/features/wallet/insert-credits.ts'
import { insertTokens } from '../src/features/oauth/queries.ts'
import type { ListRequest } from '../src/http/shared/paging.ts'
import { findClients, findTokens } from '../src/http/partner/access-queries.ts'
import { insertCalls } from '../src/postgres/across-communities.ts'
import { connect, type Queries } from '../src/postgres/connect.ts'
import { startBank } from './bank.ts'
import { testOnOneServer } from './one-server.ts'
import { volume } from './volume.ts'

/** PostgreSQL plans the first five executions for their values, then compares the costs. */
const PLANNED_MAX = 5
const TIMES = 12
const FIRST_PAGE: ListRequest = {
  list: 'users',
  filters: {},
  limit: 25,
  after: undefined,
  since: undefined,
  horizon: undefined,
  epoch: '',
}

const PLANS_ON_COORDINATOR = 'A coordinator plans each time to which worker a statement goes.'

testOnOneServer(PLANS_ON_COORDINATOR, 'the statements of most requests are not planned each time', async () => {
  const { databaseUrl, communityId, partner, sql } = await startBank()
  const member = await insertMember(sql, communityId, { name: 'Ada' })
  const [client] = await findClients(sql, communityId, [partner.clientId])
  const clientId = client!.client_id
  const one = connect(databaseUrl, { connectionsMax: 1, name: 'test' })

  const frequent: ((queries: Queries, round: number) => Promise<unknown>)[] = [
    (queries) => findMembers(queries, communityId, [member.id], { withEmail: false }),
    (queries) => findMembers(queries, communityId, [member.id, 2], { withEmail: false }),
    (queries) => listMembers(queries, communityId, FIRST_PAGE, undefined, { withEmail: false }),
    (queries) => findBalances(queries, communityId, [member.id]),
    (queries) => findBalances(queries, communityId, [member.id, 2]),
    (queries) => findTokens(queries, communityId, ['00'.repeat(32)]),
    (queries) => findClients(queries, communityId, [partner.clientId]),
    (queries) =>
      insertTokens(
        queries,
        communityId,
        [{ hash: randomBytes(32).toString('hex'), clientId, scopes: ['users.read'] }],
        3600,
      ),
    (queries, round) =>
      insertCredits(queries, communityId, [
        {
          partnerId: partner.partnerId,
          clientId,
          memberId: member.id,
          amount: 1,
          reference: `r${round}`,
          note: null,
          settledOn: null,
        },
      ]),
    (queries) => insertCalls(queries, [], { isRetry: false }),
  ]
  for (const run of frequent) for (let round = 0; round < TIMES; round++) await run(one, round)

  const planned = await one<{ statement: string; custom_plans: number; generic_plans: number }[]>`
    select statement, custom_plans, generic_plans from pg_prepared_statements`
  await one.end()
  expect(planned.filter(({ custom_plans }) => custom_plans > PLANNED_MAX)).toEqual([])
})

const ONE_DEBTOR = 'the transfers of a wallet are found by its index, also where one partner makes all of them'

testOnOneServer('Citus cannot store the hint of migration 0059 for a distributed table.', ONE_DEBTOR, async () => {
  const { sql, communityId } = await startBank()
  const member = await insertMember(sql, communityId, { name: 'Ada' })
  const [account] = await sql<[{ id: number }]>`
    select id from accounts where community_id = ${communityId} and member_id = ${member.id}`
  await sql`
    insert into transfers (community_id, id, kind, debit_account_id, credit_account_id, amount, credit_balance_after,
      made_by_kind, made_by_id, occurred_on)
    select ${communityId}, n, 'credit', p.id, ${account.id}, 1, n, 'client', 1, current_date
    from generate_series(1, ${volume(100_000)}) n, accounts p
    where p.community_id = ${communityId} and p.partner_id is not null`
  await sql`analyze transfers`
  const plan = await sql.unsafe<{ 'QUERY PLAN': string }[]>(`
    explain select (
      select max(occurred_on) from transfers where community_id = ${communityId} and debit_account_id = a.id
    ) from accounts a where a.community_id = ${communityId} and a.member_id is not null`)
  expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('transfers_debit')
})
