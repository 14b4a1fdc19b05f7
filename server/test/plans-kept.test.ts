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
