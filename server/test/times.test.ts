import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fromJsonTime, toResponseTime, toUtc } from '../src/core/times.ts'
import { startBank } from './bank.ts'
import { REPOSITORY } from './guide-blocks.ts'
import { findOddTimes } from './response-times.ts'

test.each([
  ['2026-01-31T12:00:00', '2026-01-31T12:00:00.000000Z'],
  ['2026-01-31T12:00:00.5', '2026-01-31T12:00:00.500000Z'],
  ['2026-01-31T12:00:00.123456', '2026-01-31T12:00:00.123456Z'],
])('%s is sent as %s', (utc, sent) => {
  expect(toResponseTime(utc)).toBe(sent)
  expect(fromJsonTime(`${utc}+00:00`)).toBe(sent)
})

test('every example of a response has six fraction digits, and an odd one would be found', () => {
  for (const path of ['openapi.json', 'console/openapi.json']) {
    expect(findOddTimes(JSON.parse(readFileSync(join(REPOSITORY, path), 'utf8')))).toEqual([])
  }
  expect(findOddTimes({ data: [{ created_at: '2026-01-31T09:00:00Z' }] })).toEqual(['created_at: 2026-01-31T09:00:00Z'])
})

test('a whole second is sent with six fraction digits, in lists and as the next updated_since', async () => {
  const bank = await startBank()
  const token = await bank.token()
  await bank.sql`
    insert into members (community_id, id, name, joined_at, updated_at)
    select ${bank.communityId}, n, 'Ada', '2026-01-31T09:00:00Z', '2026-01-31T09:00:00Z'
    from generate_series(1, 2) as n`
  const page = await bank.call('/users?updated_since=2026-01-31T09:00:00Z&limit=1', { token })
  const sent = '2026-01-31T09:00:00.000000Z'
  expect(page.body).toMatchObject({ data: [{ joined_at: sent, updated_at: sent }], meta: { synced_until: sent } })
})

test.each([
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z'],
  ['2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.123456Z'],
  ['2026-01-31t12:00:00.5z', '2026-01-31T12:00:00.5Z'],
  ['2026-01-31T12:00:00.000001+01:00', '2026-01-31T11:00:00.000001Z'],
  ['2026-01-31T12:00:00.999999999-00:00', '2026-01-31T12:00:00.999999999Z'],
  ['2026-01-01T00:00:59.999999+16:00', '2025-12-31T08:00:59.999999Z'],
  ['2024-02-28T23:30:00-23:59', '2024-02-29T23:29:00Z'],
  ['2026-01-31T12:00:00+23:59', '2026-01-30T12:01:00Z'],
  ['1969-12-31T23:59:59.25+05:30', '1969-12-31T18:29:59.25Z'],
  ['0001-01-01T00:00:00-23:59', '0001-01-01T23:59:00Z'],
  ['9999-12-31T23:59:59.999999+00:01', '9999-12-31T23:58:59.999999Z'],
])('%s is %s', (text, utc) => {
  expect(toUtc(text)).toBe(utc)
})

const MALFORMED = [
  ['0000-12-31T23:59:59Z', '0001-01-01T00:00:00+00:01', '9999-12-31T23:59:00-00:01', '10000-01-01T00:00:00Z'],
  ['2026-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-32T00:00:00Z', '2026-01-00T00:00:00Z'],
  ['2026-01-31T24:00:00Z', '2026-01-31T12:60:00Z', '2016-12-31T23:59:60Z', '2026-01-31T12:00Z'],
  ['2026-01-31T12:00:00+24:00', '2026-01-31T12:00:00+12:60', '2026-01-31T12:00:00+0100', '2026-01-31T12:00:00'],
  ['2026-01-31 12:00:00Z', '2026-01-31T12:00:00.Z', '2026-01-31T12:00:00.1234567890Z', ' 2026-01-31T12:00:00Z', ''],
].flat()

test.each(MALFORMED)('%j is not a time', (text) => {
  expect(toUtc(text)).toBeUndefined()
})
