import { expect, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { readCsv } from '../src/csv/read-csv.ts'
import { startBank, TESTER } from './bank.ts'

async function start() {
  const bank = await startBank()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await bank.token()
  const credits = Array.from({ length: 150 }, (_, n) => ({
    user_id: member.id,
    hours: 0.01,
    reference: `tx-${n}`,
    settled_on: n < 120 ? '2026-01-30' : '2026-01-31',
  }))
  await bank.call('/wallet/credits/batch', { token, body: { credits } })
  const list = (query = '', accept = 'text/csv', of = token) =>
    bank.call(`/wallet/credits${query}`, { token: of, headers: { accept } })
  return { bank, member, token, list }
}

async function read(text: string): Promise<string[][]> {
  const records = []
  for await (const { fields } of readCsv([Buffer.from(text)] as never)) records.push(fields)
  return records
}

test('the credits of a partner come as CSV, all of them, with the fields of the JSON', async () => {
  const { bank, token, list } = await start()
  const reverse = { reference: 'tx-3', reversal_reference: 'back-3' }
  await bank.call('/wallet/credits/reverse', { token, body: reverse })
  const answer = await list('?limit=1')
  expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
    status: 200,
    type: 'text/csv; charset=utf-8',
  })
  const [header, ...rows] = await read(answer.body)
  const json = await list('?limit=100', 'application/json')
  expect(header!.toSorted()).toEqual(Object.keys(json.body.data[0]).toSorted())
  expect(rows).toHaveLength(150)
  const asText = json.body.data.map((credit: any) => header!.map((name) => `${credit[name] ?? ''}`))
  expect(rows.slice(0, 100)).toEqual(asText)
  expect(rows[3]).toContain('reversed')
})

test('the CSV follows the filters of the list, and shows no other partner and no balance without wallet.read', async () => {
  const { bank, member, token, list } = await start()
  const neighbour = await bank.addPartner()
  const other = await bank.token(undefined, neighbour)
  await bank.call('/wallet/credit', { token: other, body: { user_id: member.id, hours: 7, reference: 'theirs' } })
  expect(await read((await list('?settled_on=2026-01-31')).body)).toHaveLength(31)
  expect((await list()).body).not.toContain('theirs')
  const [header] = await read((await list('', 'text/csv', await bank.token('wallet.write'))).body)
  expect(header).not.toContain('balance_hours')
  expect((await list('?settled_on=tomorrow')).status).toBe(422)
  expect((await list('', 'text/csv', await bank.token('users.read'))).status).toBe(403)
  await bank.call('/wallet/credit', { token, body: { user_id: member.id, hours: 1, reference: '=1+1' } })
  expect((await list('?reference=%3D1%2B1')).body).toContain(",'=1+1,")
})

test('CSV is for those who ask for it; all others get JSON', async () => {
  const { list } = await start()
  const csv = [
    'text/csv',
    'Text/CSV; charset=utf-8',
    'text/csv, */*;q=0.1',
    'application/json;q=0.5, text/csv',
    'application/json; q=0.1, text/csv ; Q=0.2',
    'text/csv; q=0.1',
    'text/*',
    'text/csv; header="a, b;q=0"; q=0.3, application/json; q=0.2',
  ]
  const json = [
    '*/*',
    'application/json',
    'application/json, text/csv;q=0.9',
    'text/csv;q=0',
    'text/html',
    'x',
    'text/csv; q=0.1, application/json',
    'text/csv; charset=utf-8; q=0.1, application/json',
    'text/csv; q=0',
    'text/csv;q=0.1, */*',
    'text/csv; q=0.1, application/*; q=0.2',
  ]
  for (const accept of [...csv, ...json]) {
    const { status, headers } = await list('?limit=1', accept)
    const type = headers.get('content-type')!.split(';')[0]
    expect({ accept, status, type }).toEqual({
      accept,
      status: 200,
      type: csv.includes(accept) ? 'text/csv' : 'application/json',
    })
    expect(headers.get('vary')).toContain('accept,')
  }
})
