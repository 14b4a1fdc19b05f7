import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { insertCalls } from '../src/postgres/across-communities.ts'
import { createCallBatch, type Call } from '../src/http/partner/call-groups.ts'
import { newRequestId } from '../src/http/shared/request-id.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { eventually, startBank, type Bank } from './bank.ts'
import { lockTable } from './lock-table.ts'

const USERS = '/api/partner/v1/users'
const MINUTES_PER_MS = 1 / 60_000
const NOON = Date.parse('2026-03-02T12:00:00Z')

type Logged = Partial<Call> & { minute: number }

/** As if they had been called, so many minutes past noon, and written in one batch. */
async function log({ sql, communityId, partner }: Bank, calls: Logged[], community = communityId): Promise<string[]> {
  const batch = createCallBatch()
  const ids: string[] = []
  for (const { minute, ...call } of calls) {
    const { requestId = randomUUID() } = call
    ids.push(requestId)
    batch.add({
      communityId: community,
      atMs: NOON + minute * 60_000,
      partnerId: partner.partnerId,
      clientId: undefined,
      method: 'GET',
      path: USERS,
      route: USERS,
      status: 200,
      error: undefined,
      errorDescription: undefined,
      address: undefined,
      userAgent: 'test',
      durationMs: 1.5,
      ...call,
      requestId,
    })
  }
  await insertCalls(sql, batch.groups, { isRetry: false })
  return ids
}

const ids = (body: { data: { request_id: string }[] }) => body.data.map(({ request_id }) => request_id)

test("a partner's call is listed within moments, with the reason if it was rejected", async () => {
  const bank = await startBank({ scopes: ['users.read'] })
  const viewer = await addAdmin(bank, 'viewer')
  const token = await bank.token()
  const refused = await bank.call('/wallet/balance/1', { token, headers: { 'user-agent': 'bank/1.0' } })
  expect(refused.status).toBe(403)
  const requestId = refused.headers.get('request-id')!
  const call = await eventually(async () => {
    const { status, body } = await viewer.call(`/calls/${requestId}`)
    return status === 200 && body.data
  })
  expect(call).toMatchObject({
    request_id: requestId,
    partner_id: bank.partner.partnerId,
    partner_name: 'Bank',
    client_id: bank.partner.clientId,
    method: 'GET',
    path: '/api/partner/v1/wallet/balance/1',
    status: 403,
    error: 'insufficient_scope',
    error_description: 'The access token does not cover this operation.',
    address: '127.0.0.1',
    user_agent: 'bank/1.0',
  })
  const { body: list } = await viewer.call('/calls')
  expect(list.data.map(({ status }: { status: number }) => status)).toEqual([403, 200])
  expect(JSON.stringify(list)).not.toContain(bank.partner.clientSecret)
})

test('every filter finds the matching calls, alone and combined', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const other = await bank.addPartner()
  const [get, post, missing, broken, foreign] = await log(bank, [
    { minute: 0 },
    { minute: 1, method: 'POST', path: '/api/partner/v1/wallet/credit', status: 201 },
    { minute: 2, path: '/api/partner/v1/users/77', status: 404, error: 'user_not_found' },
    { minute: 3, status: 503, error: 'unavailable' },
    { minute: 4, partnerId: other.partnerId },
  ])
  const found: [query: string, expected: (string | undefined)[]][] = [
    ['', [foreign, broken, missing, post, get]],
    [`partner_id=${other.partnerId}`, [foreign]],
    ['status=404', [missing]],
    ['status=4xx', [missing]],
    ['status=5xx', [broken]],
    ['status=2xx', [foreign, post, get]],
    ['method=post', [post]],
    ['path=USERS/', [missing]],
    ['path=/api/partner/v1/wallet', [post]],
    ['path=%25', []],
    ['error=user_not_found', [missing]],
    ['from=2026-03-02T12:03:00Z', [foreign, broken]],
    ['until=2026-03-02T12:01:00Z', [get]],
    ['from=2026-03-02T12:01:00Z&until=2026-03-02T12:03:00Z&status=2xx', [post]],
    [`request_id=%20${missing!.toUpperCase()}`, [missing]],
    ['request_id=unknown', []],
  ]
  for (const [query, expected] of found) {
    expect(ids((await viewer.call(`/calls?${query}`)).body), query).toEqual(expected)
  }
  for (const query of ['status=9', 'status=4x', 'from=yesterday', 'partner_id=x', 'limit=0', 'cursor=x']) {
    expect((await viewer.call(`/calls?${query}`)).body.error, query).toBe('validation_failed')
  }
})

test('calls stored in one row are found individually by time, path and id', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const route = `${USERS}/:id`
  const [ofNow, ofAnotherTime] = [newRequestId(), newRequestId()]
  const [first, second, third] = await log(bank, [
    { minute: 100 * MINUTES_PER_MS, route, path: `${USERS}/1`, durationMs: 1.25 },
    { minute: 400 * MINUTES_PER_MS, route, path: `${USERS}/2`, durationMs: 2.5 },
    { minute: 700 * MINUTES_PER_MS, route, path: `${USERS}/3`, durationMs: 5 },
  ])
  await log(bank, [
    { minute: (Date.now() - NOON) * MINUTES_PER_MS, requestId: ofNow },
    { minute: 0, requestId: ofAnotherTime },
  ])
  expect(await bank.sql`select calls from call_groups order by second_at, calls`).toEqual([
    { calls: 1 },
    { calls: 3 },
    { calls: 1 },
  ])
  const found: [query: string, expected: (string | undefined)[]][] = [
    ['path=users/&from=2026-03-02T12:00:00.400Z', [third, second]],
    ['path=users/&until=2026-03-02T12:00:00.400Z', [first]],
    ['path=users/2', [second]],
    [`request_id=${third}`, [third]],
    [`request_id=${ofNow}`, [ofNow]],
    // Its id tells another time than that of its call: only calls of about that time are looked at.
    [`request_id=${ofAnotherTime}`, []],
    ['request_id=ffffffff-ffff-7fff-bfff-ffffffffffff', []],
  ]
  for (const [query, expected] of found) {
    expect(ids((await viewer.call(`/calls?${query}`)).body), query).toEqual(expected)
  }
  expect((await viewer.call(`/calls/${second}`)).body.data).toMatchObject({
    request_id: second,
    at: '2026-03-02T12:00:00.400000Z',
    path: `${USERS}/2`,
    route,
    duration_ms: 2.5,
  })
  expect((await viewer.call(`/calls/${ofNow}`)).body.data).toMatchObject({ path: USERS, route: USERS })
})

test('paging neither skips nor repeats calls that have the same time', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const logged = await log(
    bank,
    Array.from({ length: 25 }, (_, n) => ({ minute: n < 20 ? 5 : n })),
  )
  const seen: string[] = []
  let cursor = ''
  do {
    const { body } = await viewer.call(`/calls?limit=4&status=2xx${cursor && `&cursor=${cursor}`}`)
    seen.push(...ids(body))
    cursor = body.meta.next_cursor
    // What comes in meanwhile belongs before the first page.
    await log(bank, [{ minute: 60 }])
  } while (cursor)
  expect(seen.toSorted()).toEqual(logged.toSorted())
  const first = await viewer.call('/calls?limit=4')
  expect((await viewer.call(`/calls?limit=4&status=4xx&cursor=${first.body.meta.next_cursor}`)).status).toBe(422)
})

test('errors are grouped, the most frequent first', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const scope = { status: 403, error: 'insufficient_scope' }
  await log(bank, [
    { minute: 0 },
    { minute: 1, ...scope },
    { minute: 2, ...scope },
    { minute: 3, ...scope, method: 'POST', route: undefined },
    { minute: 90, status: 500, error: 'internal_error' },
  ])
  const { data } = (await viewer.call('/calls/errors?until=2026-03-02T13:00:00Z')).body
  expect(data).toEqual([
    {
      ...scope,
      method: 'GET',
      route: USERS,
      partner_id: bank.partner.partnerId,
      partner_name: 'Bank',
      count: 2,
      last_at: '2026-03-02T12:02:00.000000Z',
    },
    expect.objectContaining({ ...scope, method: 'POST', route: null, count: 1 }),
  ])
  const all = (await viewer.call('/calls/errors')).body.data
  expect(all.map(({ error }: { error: string }) => error)).toContain('internal_error')
  expect((await viewer.call('/calls/errors?partner_id=987654')).body.data).toEqual([])
})

test('an export has the filtered calls, is safe for spreadsheets, and is audited', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const [, bad] = await log(bank, [
    { minute: 0 },
    { minute: 1, status: 404, error: 'not_found', userAgent: '=HYPERLINK("http://evil.example")' },
  ])
  const { status, headers, body } = await viewer.call('/calls/export?status=4xx')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toContain('text/csv')
  expect(headers.get('content-disposition')).toBe('attachment; filename="town-calls.csv"')
  const lines = (body as string).replace('\uFEFF', '').trim().split('\r\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/^at,request_id,partner_id/)
  expect(lines[1]).toContain(bad)
  expect(lines[1]).toContain(`"'=HYPERLINK(""http://evil.example"")"`)
  const [audit] = await bank.sql`
    select actor_id, detail from audit_log where community_id = ${bank.communityId} and action = 'calls.exported'`
  expect(audit).toEqual({ actor_id: viewer.id, detail: { status: '4xx' } })
  expect((await viewer.call('/calls/export?request_id=x')).status).toBe(422)
})

test('an unknown parameter of an export is ignored, and does not reach the audit log', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  expect((await viewer.call('/calls/export?status=4xx&unknown=1&un%00known=2')).status).toBe(200)
  const [audit] = await bank.sql`
    select detail from audit_log where community_id = ${bank.communityId} and action = 'calls.exported'`
  expect(audit).toEqual({ detail: { status: '4xx' } })
})

test('calls of another community, or without a session, cannot be read', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const elsewhere = await bank.addCommunity('elsewhere')
  const [theirs] = await log(bank, [{ minute: 0, status: 404, error: 'not_found' }], elsewhere)
  expect(ids((await viewer.call('/calls')).body)).toEqual([])
  expect(ids((await viewer.call(`/calls?request_id=${theirs}`)).body)).toEqual([])
  expect((await viewer.call('/calls/errors')).body.data).toEqual([])
  expect((await viewer.call('/calls/export')).body).not.toContain(theirs)
  for (const id of [theirs, randomUUID(), 'x']) expect((await viewer.call(`/calls/${id}`)).status).toBe(404)
  for (const path of ['/calls', '/calls/errors', '/calls/export', `/calls/${theirs}`]) {
    expect((await viewer.call(`/communities/elsewhere${path}`)).status).toBe(404)
    expect((await newBrowser(bank).call(path)).body.error).toBe('sign_in_required')
  }
})

test('a search that takes too long is cancelled with a message what to do', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const lock = await lockTable(bank.sql, 'call_groups')
  const { status, body } = await viewer.call('/calls?path=nothing')
  await lock.release()
  expect([status, body.error]).toEqual([409, 'refused'])
  expect(body.error_description).toContain('Choose a shorter period')
  expect((await viewer.call('/calls?path=nothing')).status).toBe(200)
})

test('the chart counts calls by kind of response, in the time zone of the community', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const owner = await addAdmin(bank)
  const elsewhere = await bank.addCommunity('elsewhere')
  await bank.sql`update communities set time_zone = 'Asia/Kolkata'`
  await log(bank, [
    { minute: 0 },
    { minute: 1, status: 401, error: 'invalid_token' },
    { minute: 2, status: 429, error: 'rate_limited' },
    { minute: 2, status: 403, error: 'insufficient_scope', partnerId: bank.partner.partnerId + 1 },
    { minute: 61, status: 422, error: 'validation_failed' },
    { minute: 61, status: 503, error: 'unavailable' },
  ])
  await log(bank, [{ minute: 0 }], elsewhere)
  const chart = async (query: string) => (await owner.call(`/calls/chart?${query}`)).body.data
  const day = 'from=2026-03-02T00:00:00Z&until=2026-03-03T00:00:00Z'
  const points = await chart(day)
  // Hours begin at half past, seen from here.
  expect(points.filter(({ answered, failed }: any) => answered + failed > 0)).toEqual([
    {
      at: '2026-03-02T11:30:00.000000Z',
      answered: 1,
      unauthenticated: 1,
      forbidden: 1,
      limited: 1,
      rejected: 0,
      failed: 0,
    },
    {
      at: '2026-03-02T12:30:00.000000Z',
      answered: 0,
      unauthenticated: 0,
      forbidden: 0,
      limited: 0,
      rejected: 1,
      failed: 1,
    },
  ])
  expect(points).toHaveLength(25)
  expect((await chart(`${day}&partner_id=${bank.partner.partnerId}`))[12].forbidden).toBe(0)
  expect(await chart('from=2026-03-02T12:00:00Z&until=2026-03-02T13:00:00Z')).toHaveLength(12)
  expect(await chart('from=2026-02-01T00:00:00Z&until=2026-03-03T00:00:00Z')).toHaveLength(31)
  expect(await chart('')).toHaveLength(25)
  expect((await owner.call('/calls/chart?from=2020-01-01T00:00:00Z')).status).toBe(422)
})

test('the chart counts each moment once on the days on which the clocks change', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const owner = await addAdmin(bank)
  await bank.sql`update communities set time_zone = 'Europe/Vienna'`
  // In autumn, 2:00 to 3:00 comes twice.
  const times = ['2026-10-25T00:40:00Z', '2026-10-25T01:05:00Z', '2026-10-25T01:40:00Z']
  const calls = times.map((time) => ({ minute: (Date.parse(time) - NOON) / 60_000 }))
  await log(bank, calls)
  const chart = async (from: string, until: string): Promise<{ at: string; answered: number }[]> =>
    (await owner.call(`/calls/chart?from=${from}&until=${until}`)).body.data
  const counted = async (from: string, until: string) => {
    const points = await chart(from, until)
    expect(new Set(points.map(({ at }) => at)).size).toBe(points.length)
    const busy = points.filter(({ answered }) => answered > 0).map(({ at }) => at.slice(11, 16))
    return [points.length, ...busy]
  }
  expect(await counted('2026-10-25T00:30:00Z', '2026-10-25T01:10:00Z')).toEqual([8, '00:40', '01:05'])
  expect(await counted('2026-10-25T00:00:00Z', '2026-10-25T02:00:00Z')).toEqual([24, '00:40', '01:05', '01:40'])
  expect(await counted('2026-10-24T12:00:00Z', '2026-10-25T12:00:00Z')).toEqual([24, '00:00', '01:00'])
  expect(await counted('2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z')).toEqual([24])
  const days = await chart('2026-10-23T22:00:00Z', '2026-10-26T23:00:00Z')
  expect(days.map(({ at, answered }) => [at.slice(0, 13), answered])).toEqual([
    ['2026-10-23T22', 0],
    ['2026-10-24T22', 3],
    ['2026-10-25T23', 0],
  ])
})
