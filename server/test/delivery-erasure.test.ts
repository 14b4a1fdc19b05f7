import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { changeMember } from '../src/features/members/change-member.ts'
import { eventually, TESTER } from './bank.ts'
import { startPostman } from './postman.ts'

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
    const [stored] = await bank.sql<[{ text: string }]>`
    select coalesce((select string_agg(coalesce(success_response, ''), '') from deliveries), '')
      || coalesce((select string_agg(coalesce(response, '') || coalesce(error, ''), '') from attempts), '') as text`
    expect(stored.text).not.toMatch(/Ada|example/)
    const bodies = receiver.received.slice(1).map(({ json }) => json)
    // Sent at once, so either may arrive first.
    expect(bodies.map(({ type }) => type).toSorted()).toEqual(['user.erased', 'user.left'])
    expect(JSON.stringify(bodies)).not.toContain('Ada')
  },
)
