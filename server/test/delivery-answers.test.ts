import { expect, test } from 'vitest'
import { addAdmin } from './admin.ts'
import { startPostman } from './postman.ts'

/** As much as is kept of an answer, in characters that take six bytes each in JSON. */
const ANSWER = '\u0001'.repeat(16 * 1024)
const LISTED_ATTEMPTS_MAX = 10
const LISTED_RESPONSE_LENGTH_MAX = 1000

test('a list of deliveries has the newest ten attempts of each and the beginning of their responses', async () => {
  const post = await startPostman()
  const { bank, token } = post
  const owner = await addAdmin(bank)
  const { id } = await post.subscribe()
  post.receiver.answer = (response) => response.writeHead(500).end(ANSWER)
  await post.credit()
  await post.deliver()
  await bank.sql`
    insert into attempts (community_id, at, delivery_id, number, duration_ms, status, error_kind, response)
    select community_id, at - make_interval(mins => n), delivery_id, 100 + n, 1, 500, 'status', response
    from attempts, generate_series(1, 60) n`
  const [delivery] = await post.deliveries(id)
  expect(delivery.attempts.map(({ number }: { number: number }) => number)).toEqual([
    109, 108, 107, 106, 105, 104, 103, 102, 101, 1,
  ])
  expect(delivery.attempts).toHaveLength(LISTED_ATTEMPTS_MAX)
  for (const { response } of delivery.attempts) expect(response).toBe(ANSWER.slice(0, LISTED_RESPONSE_LENGTH_MAX))
  const again = await bank.call(`/webhooks/deliveries/${delivery.id}/redeliver`, { token, method: 'POST' })
  expect(again.body.data.attempts).toEqual(delivery.attempts)

  const [listed] = (await owner.call(`/webhooks/${id}/deliveries`)).body.data
  expect(listed).toMatchObject({ attempts_count: 61, last_attempt: { number: 1 } })
  const shown = (await owner.call(`/deliveries/${listed.id}`)).body.data
  expect(shown.attempts).toHaveLength(50)
  expect(shown.attempts[0].response).toBe(ANSWER)
})

test('for deliveries that arrived, only the beginning of the last response is stored', async () => {
  const post = await startPostman()
  const { bank, token } = post
  const { id } = await post.subscribe()
  post.receiver.answer = (response) => response.end(ANSWER)
  await post.credit()
  await post.deliver()
  for (let n = 0; n < 3; n++) {
    await bank.call(`/webhooks/subscriptions/${id}/replay`, { token, body: { since: '2020-01-01T00:00:00Z' } })
    await post.deliver()
  }
  const stored = await bank.sql`select status, length(response) as length from delivery_attempts order by at`
  expect(stored).toEqual([
    ...Array.from({ length: 3 }, () => ({ status: 200, length: null })),
    { status: 200, length: 1024 },
  ])
})
