import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { Sql } from '../src/postgres/connect.ts'
import { prune } from '../src/postgres/prune.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { changeMember } from '../src/features/members/change-member.ts'
import { withdrawSubscriptions } from '../src/features/restores/queries.ts'
import { deleteSubscription } from '../src/features/subscriptions/queries.ts'
import { eventually, TESTER } from './bank.ts'
import { startPostman, type Postman } from './postman.ts'

test.each([200, 500])(
  'a response that is under way when a member is erased is not stored, with status %i',
  async (code) => {
    const post = await startPostman()
    const { bank, receiver, member } = post
    await post.subscribe({ event_types: ['user.*'] })
    const waiting: ServerResponse[] = []
    receiver.answer = (response) => void waiting.push(response)
    await changeMember(bank.sql, TESTER, bank.communityId, member.id, { name: 'Ada King' })
    post.worker.wake()
    await eventually(() => waiting.length === 1)
    await eraseMember(bank.sql, TESTER, bank.communityId, member.id)
    receiver.answer = (response) => response.writeHead(204).end()
    waiting[0]!.writeHead(code).end('Thank you, Ada King <ada@example.org>')
    await post.deliver()
    expect(await storedAnswers(bank.sql)).not.toMatch(/Ada|example/)
    const bodies = receiver.received.slice(1).map(({ json }) => json)
    // Sent at once, so either may arrive first.
    expect(bodies.map(({ type }) => type).toSorted()).toEqual(['user.erased', 'user.left'])
    expect(JSON.stringify(bodies)).not.toContain('Ada')
  },
)

const DAY_MS = 24 * 60 * 60 * 1000

test.each([
  {
    how: 'its subscription is deleted',
    end: async ({ bank, token }: Postman, id: number) => {
      await bank.call(`/webhooks/subscriptions/${id}`, { method: 'DELETE', token })
    },
  },
  {
    how: 'its subscription is deleted, with more deliveries than go before it',
    end: async ({ bank: { sql, communityId, partner } }: Postman, id: number) => {
      await deleteSubscription(sql, communityId, partner.partnerId, id)
    },
  },
  {
    how: 'its subscription was deleted after the backup that is restored',
    end: async ({ bank }: Postman) => {
      await withdrawSubscriptions(bank.sql, [])
    },
  },
  {
    how: 'its event is pruned',
    // As if it had been sent again weeks later: the week of its attempts is kept for longer than that of the event.
    end: async ({ bank }: Postman) => {
      await bank.sql`update attempts set at = ${new Date(Date.now() + 14 * DAY_MS)}`
      await prune(bank.sql, { callLogDays: 90, now: new Date(Date.now() + 31 * DAY_MS) })
    },
  },
])('an erasure leaves no response to a delivery that ended before because $how', async ({ end }) => {
  const post = await startPostman()
  const { bank, receiver, member } = post
  const { id } = await post.subscribe({ event_types: ['user.*'] })
  receiver.answer = (response) => response.writeHead(500).end('Thank you, Ada King <ada@example.org>')
  await changeMember(bank.sql, TESTER, bank.communityId, member.id, { name: 'Ada King' })
  await post.deliver()
  expect(await storedAnswers(bank.sql)).toContain('Ada King')
  await end(post, id)
  expect(await bank.sql`select from deliveries`).toHaveLength(0)
  await eraseMember(bank.sql, TESTER, bank.communityId, member.id)
  expect(await storedAnswers(bank.sql)).not.toMatch(/Ada|example/)
})

async function storedAnswers(sql: Sql): Promise<string> {
  const [stored] = await sql<[{ text: string }]>`
    select coalesce((select string_agg(coalesce(success_response, ''), '') from deliveries), '')
      || coalesce((select string_agg(coalesce(response, '') || coalesce(error, ''), '') from attempts), '') as text`
  return stored.text
}
