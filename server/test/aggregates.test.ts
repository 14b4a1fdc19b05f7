import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { sumOf, toFigure } from '../src/features/aggregates/figures.ts'
import { CommunityAggregates } from '../src/features/aggregates/schema.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { startBank } from './bank.ts'
import { sendPlain, UNPACKERS } from './raw-http.ts'
import { PATH, HIDDEN, foundTown, trade, offer, close, read, closeAndRead } from './aggregate-months.ts'

test('a figure is the bucket its number lies in: ten wide below 1,000, two significant digits above, nothing below ten', () => {
  expect([9, 10, 19, 20, 240, 999, 1000, 1099, 1100, 12_345, 99_999].map(toFigure)).toEqual([
    HIDDEN,
    { min: 10, max: 19 },
    { min: 10, max: 19 },
    { min: 20, max: 29 },
    { min: 240, max: 249 },
    { min: 990, max: 999 },
    { min: 1000, max: 1099 },
    { min: 1000, max: 1099 },
    { min: 1100, max: 1199 },
    { min: 12_000, max: 12_999 },
    { min: 99_000, max: 99_999 },
  ])
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (value) => {
      const figure = toFigure(value)
      if (value < 10) {
        expect(figure).toEqual(HIDDEN)
        return
      }
      const { min, max } = figure as { min: number; max: number }
      expect(min <= value && value <= max).toBe(true)
      // Every number of a bucket is told the same, and its neighbours are not.
      expect([toFigure(min), toFigure(max)]).toEqual([figure, figure])
      expect(toFigure(max + 1)).toMatchObject({ min: max + 1 })
      expect(max - min + 1).toBe(Math.max(10, 10 ** (`${value}`.length - 2)))
    }),
  )
})

test('a total is the sum of what was published, no closer', () => {
  expect(sumOf([])).toEqual(HIDDEN)
  expect(sumOf([toFigure(12), toFigure(1234)].flatMap((figure) => ('min' in figure ? figure : [])))).toEqual({
    min: 1210,
    max: 1318,
  })
})

test('a community without a closed month has an empty document', async () => {
  const bank = await startBank()
  expect(await read(bank)).toEqual({
    closed_through: null,
    closed_at: null,
    flows: {
      exchanges: { total: HIDDEN, periods: [] },
      hours_exchanged: { total: HIDDEN, periods: [] },
      hours_credited: { total: HIDDEN, periods: [] },
      trading_members: { total: HIDDEN, periods: [] },
      new_members: { total: HIDDEN, periods: [] },
    },
    stocks: { active_members: HIDDEN, active_services: HIDDEN, active_requests: HIDDEN, listings_by_category: [] },
  })
})

test('requests without a token or without the scope are rejected', async () => {
  const bank = await startBank()
  expect(await bank.call(PATH)).toMatchObject({ status: 401, body: { error: 'authentication_required' } })
  const token = await bank.token('users.read wallet.write')
  expect(await bank.call(PATH, { token })).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
})

test('a month with ten traders is published in buckets, in the documented shape', async () => {
  const town = await foundTown(12)
  await trade(town, town.members.slice(0, 10), '2024-01-15T12:00:00Z', 2.75)
  for (const member of town.members) await offer(town, member, 'Garden')
  const token = await town.token('aggregates.read')
  await close(town, '2024-02-11T00:00:00Z')
  const answer = await town.call(PATH, { token })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer.headers.get('api-version')).toBe('2.0')
  expect(answer.headers.get('cache-control')).toBe('private, no-cache')
  const january = { from: '2024-01', to: '2024-01' }
  const once = (min: number, max: number) => ({
    total: { min, max },
    periods: [{ ...january, figure: { min, max } }],
  })
  expect(answer.body).toEqual({
    data: {
      closed_through: '2024-01',
      closed_at: '2024-02-11T00:00:00.000000Z',
      flows: {
        exchanges: once(10, 19),
        hours_exchanged: once(20, 29),
        hours_credited: { total: HIDDEN, periods: [{ ...january, figure: HIDDEN }] },
        trading_members: once(10, 19),
        // Everyone is new.
        new_members: { total: HIDDEN, periods: [{ ...january, figure: HIDDEN }] },
      },
      stocks: {
        active_members: { min: 40, max: 49 },
        active_services: { min: 10, max: 19 },
        active_requests: HIDDEN,
        listings_by_category: [{ category: 'Garden', figure: { min: 10, max: 19 } }],
      },
    },
  })
  // The stored text bypasses the serialiser, so the schema is held to it here.
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(CommunityAggregates)
  expect(validate(answer.body.data), JSON.stringify(validate.errors)).toBe(true)
})

test('the entity tag comes from the stored bytes, and changes only with a close', async () => {
  const town = await foundTown(12)
  const token = await town.token()
  const before = await town.call(PATH, { token })
  await trade(town, town.members, '2024-01-15T12:00:00Z')
  await close(town, '2024-02-10T23:59:59Z')
  expect((await town.call(PATH, { token })).headers.get('etag')).toBe(before.headers.get('etag'))
  await closeAndRead(town, '2024-02-11T00:00:00Z')
  const after = await town.call(PATH, { token })
  const etag = after.headers.get('etag')!
  expect(etag).toMatch(/^W\/"/)
  expect(etag).not.toBe(before.headers.get('etag'))
  const again = await town.call(PATH, { token, headers: { 'if-none-match': `"other", ${etag}` } })
  expect(again).toMatchObject({ status: 304, body: '' })
  expect(again.headers.get('api-version')).toBe('2.0')
})

test('a long document is compressed for clients that accept it, under the same tag', async () => {
  const town = await foundTown(12)
  const token = await town.token()
  const get = (headers: Record<string, string> = {}) =>
    sendPlain(`${town.url}${API_PREFIX}${PATH}`, { headers: { authorization: `Bearer ${token}`, ...headers } })
  // What has nothing to tell is short.
  expect((await get({ 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBeNull()

  for (const month of ['2024-01', '2024-02', '2024-03']) await trade(town, town.members, `${month}-15T12:00:00Z`)
  await closeAndRead(town, '2024-04-11T00:00:00Z')
  const plain = await get()
  expect(plain.headers.get('content-encoding')).toBeNull()
  for (const [encoding, unpack] of Object.entries(UNPACKERS)) {
    const packed = await get({ 'accept-encoding': encoding })
    expect(Object.fromEntries(packed.headers)).toMatchObject({
      'content-encoding': encoding,
      'content-length': `${packed.bytes.length}`,
      'content-type': 'application/json; charset=utf-8',
      vary: 'accept-encoding',
      etag: plain.headers.get('etag'),
    })
    expect(unpack(packed.bytes)).toEqual(plain.bytes)
    const known = await get({ 'accept-encoding': encoding, 'if-none-match': plain.headers.get('etag')! })
    expect({ status: known.status, bytes: known.bytes.length }).toEqual({ status: 304, bytes: 0 })
    expect(known.headers.get('content-encoding')).toBeNull()
  }
})
