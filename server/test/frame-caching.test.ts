import { expect, test } from 'vitest'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { addMember, leave } from '../src/features/members/change-member.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { sendPlain, UNPACKERS } from './raw-http.ts'
import { expectError } from './frame-answers.ts'
import { takeIds } from './take-ids.ts'

async function addMembers({ sql, communityId }: Bank, count: number): Promise<void> {
  const first = await takeIds(sql, communityId, 'members', count)
  await sql`
    insert into members (community_id, id, name, email)
    select ${communityId}, ${first}::int8 + n - 1, 'Member ' || n, 'member' || n || '@example.org' from generate_series(1, ${count}::int) n`
}

test('an unchanged page gets 304 for every valid form of If-None-Match', async () => {
  const bank = await startBank()
  await addMembers(bank, 50)
  const token = await bank.token('users.read')
  const url = `${bank.url}${API_PREFIX}/users?limit=50`
  const get = (headers: Record<string, string> = {}) =>
    sendPlain(url, { headers: { authorization: `Bearer ${token}`, ...headers } })

  const first = await get()
  const tag = first.headers.get('etag')!
  expect(tag).toMatch(/^W\/"[\w-]+"$/)
  expect(first.headers.get('cache-control')).toBe('private, no-cache')
  const opaque = tag.slice(2)
  for (const match of [tag, opaque, '*', ` ${tag} `, `"a", ${tag}`, `W/"a",${opaque} , "b"`]) {
    const answer = await get({ 'if-none-match': match })
    expect({ status: answer.status, bytes: answer.bytes.length }, match).toEqual({ status: 304, bytes: 0 })
    expect(answer.headers.get('etag'), match).toBe(tag)
    expect(answer.headers.get('api-version'), match).toBe('2.0')
    expect(answer.headers.get('content-type'), match).toBeNull()
    expect(answer.headers.get('content-length'), match).toBeNull()
  }
  for (const other of ['"a"', 'W/"a"', opaque.slice(1, -1), `"x${opaque.slice(1)}`]) {
    expect((await get({ 'if-none-match': other })).status, other).toBe(200)
  }

  for (const encoding of ['gzip', 'br']) {
    const packed = await get({ 'accept-encoding': encoding })
    expect(packed.headers.get('etag'), encoding).toBe(tag)
    expect((await get({ 'accept-encoding': encoding, 'if-none-match': tag })).status).toBe(304)
  }

  await bank.sql`update members set name = 'Renamed' where community_id = ${bank.communityId} and name = 'Member 7'`
  const changed = await get({ 'if-none-match': tag })
  expect(changed.status).toBe(200)
  expect(changed.headers.get('etag')).not.toBe(tag)
})

test('a list of changes gets 304 until something changes, although the time that it is complete until advances', async () => {
  const bank = await startBank()
  await addMembers(bank, 1)
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  await leave(bank.sql, TESTER, bank.communityId, id)
  const token = await bank.token()
  const since = '2020-01-01T00:00:00Z'
  for (const path of [`/users?updated_since=${since}`, `/listings?updated_since=${since}`, '/removals']) {
    const first = await bank.call(path, { token })
    const again = await bank.call(path, { token, headers: { 'if-none-match': first.headers.get('etag')! } })
    expect([first.status, again.status], path).toEqual([200, 304])
  }
  const { headers } = await bank.call('/removals', { token })
  const other = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ben' })
  await leave(bank.sql, TESTER, bank.communityId, other.id)
  expect((await bank.call('/removals', { token, headers: { 'if-none-match': headers.get('etag')! } })).status).toBe(200)
})

test('an error has no ETag, and is never 304', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const answer = await bank.call('/users?limit=0', { token, headers: { 'if-none-match': '*' } })
  expectError(answer, 'validation_failed')
  expect(answer.headers.get('etag')).toBeNull()
})

test('a response is compressed if the caller accepts it, with the same content', async () => {
  const bank = await startBank()
  const token = await bank.token('users.read')
  const url = `${bank.url}${API_PREFIX}/users?limit=100`
  const get = (encoding?: string) =>
    sendPlain(url, { headers: { authorization: `Bearer ${token}`, ...(encoding && { 'accept-encoding': encoding }) } })

  expect((await get('gzip')).headers.get('content-encoding')).toBeNull()
  await addMembers(bank, 100)
  const plain = await get()
  expect(plain.headers.get('content-encoding')).toBeNull()
  for (const [encoding, unpack] of Object.entries(UNPACKERS)) {
    const packed = await get(encoding)
    expect(packed.headers.get('content-encoding')).toBe(encoding)
    expect(packed.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(packed.headers.get('vary')).toMatch(/accept-encoding/i)
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length)
    expect(unpack(packed.bytes)).toEqual(plain.bytes)
  }
  for (const refused of ['lzw', 'gzip;q=0, br;q=0, *', 'identity;q=1, *;q=0']) {
    expect((await get(refused)).body, refused).toEqual(plain.body)
  }
  expect((await get('gzip;q=0, *')).headers.get('content-encoding')).toBe('br')
})
