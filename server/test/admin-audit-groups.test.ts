import { expect, test } from 'vitest'
import { addMember, hideMember } from '../src/features/members/change-member.ts'
import { addAdmin } from './admin.ts'
import { eventually, startBank, TESTER } from './bank.ts'

async function start() {
  const bank = await startBank({ config: { role: 'api' } })
  const owner = await addAdmin(bank)
  const read = async (query = '') => (await owner.call(`/audit?${query}`)).body.data
  return { bank, owner, read }
}

const actionsOf = (entries: { action: string }[]) => entries.map(({ action }) => action)

test('what a client reads of email addresses on a day is one entry, and every call stays on record', async () => {
  const { bank, read } = await start()
  for (const name of ['Ada', 'Ben', 'Cleo']) {
    await addMember(bank.sql, TESTER, bank.communityId, { name, email: `${name.toLowerCase()}@example.org` })
  }
  const other = await bank.addPartner({ name: 'Care network' })
  const scope = 'users.read users.pii'
  const [token, otherToken] = [await bank.token(scope), await bank.token(scope, other)]
  await bank.call('/users', { token })
  await Promise.all(Array.from({ length: 4 }, () => bank.call('/users/1', { token })))
  await bank.call('/users/2', { token: otherToken })
  const groups = await eventually(async () => {
    const found = await read('grouped=true&action=members.email_read')
    return found.length === 2 && found
  })
  expect(groups).toMatchObject([
    { action: 'members.email_reads', actor: { partner: 'Care network' }, detail: { calls: 1, addresses: 1 } },
    {
      action: 'members.email_reads',
      actor: { kind: 'client', name: bank.partner.clientId, partner: 'Bank' },
      detail: { calls: 5, addresses: 7, last_at: expect.any(String) },
      member_ids: null,
    },
  ])
  expect(await read('action=members.email_read&limit=100')).toHaveLength(6)
  await bank.sql`update email_read_days set day = day - 1`
  await bank.call('/users/1', { token })
  expect(await read('grouped=true&action=members.email_read')).toHaveLength(3)
  expect(await read('grouped=true&actor_kind=admin')).not.toContainEqual(
    expect.objectContaining({ action: 'members.email_reads' }),
  )
})

test('an import is one entry, and its rows stand behind it', async () => {
  const { bank, owner, read } = await start()
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Zoe', external_id: 'm-0' })
  const file = 'external_id,name,hidden\nm-0,Zoe Lang,true\nm-1,Ada,\nm-2,Ben,\n'
  await owner.call('/members/import', { method: 'POST', body: file, headers: { 'content-type': 'text/csv' } })
  const [entry, next] = await read('grouped=true&limit=2')
  expect(entry).toMatchObject({ action: 'members.imported', detail: { added: 2, changed: 1, refused: 0 } })
  expect(next.action).toBe('member.added')
  expect(next.subject.name).toBe('Zoe Lang')
  const rows = await read(`batch=${entry.detail.batch}`)
  expect(actionsOf(rows).toSorted()).toEqual(['member.added', 'member.added', 'member.changed', 'member.hidden'])
  expect(actionsOf(await read('limit=100'))).toEqual(expect.arrayContaining(actionsOf(rows)))
  expect((await owner.call('/audit?batch=x')).status).toBe(422)
  const elsewhere = await addAdmin(bank, 'owner', await bank.addCommunity('elsewhere'), 'elsewhere')
  expect((await elsewhere.call(`/audit?batch=${entry.detail.batch}`)).body.data).toEqual([])
})

test('pages of grouped entries go on where the last one ended, with nothing twice', async () => {
  const { bank, read, owner } = await start()
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada', email: 'ada@example.org' })
  for (let n = 0; n < 3; n++) {
    const partner = await bank.addPartner({ name: `Partner ${n}` })
    await bank.call(`/users/${id}`, { token: await bank.token('users.read users.pii', partner) })
    await bank.call(`/users/${id}`, { token: await bank.token('users.read users.pii', partner) })
  }
  await hideMember(bank.sql, TESTER, bank.communityId, id)
  const all = await read('grouped=true&limit=100')
  expect(all.filter(({ action }: { action: string }) => action === 'members.email_reads')).toHaveLength(3)
  const seen: number[] = []
  let cursor = ''
  do {
    const { data, meta } = (await owner.call(`/audit?grouped=true&limit=2${cursor && `&cursor=${cursor}`}`)).body
    seen.push(...data.map((entry: { id: number }) => entry.id))
    cursor = meta.next_cursor ?? ''
  } while (cursor)
  expect(seen).toEqual(all.map((entry: { id: number }) => entry.id))
})

test('entries about hours say how many and between whom, and those about credentials whose they are', async () => {
  const { bank, owner, read } = await start()
  const ada = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const ben = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ben' })
  const slips = [{ giver_id: ada.id, receiver_id: ben.id, hours: 1.25 }]
  await owner.call('/exchanges', { body: { slips } })
  await owner.call('/adjustments', { body: { member_id: ada.id, hours: -0.5, reason: 'A mistake' } })
  await owner.call(`/clients/${bank.partner.clientId}/rotate`, { body: { grace: 'none' } })
  const [rotated, adjusted, recorded] = await read('grouped=true&limit=3')
  expect(rotated.subject).toMatchObject({ kind: 'client', partner: 'Bank' })
  expect(adjusted.transfer).toEqual({ hours: 0.5, giver: { id: ada.id, name: 'Ada' }, receiver: null })
  const people = [recorded.transfer.giver.name, recorded.transfer.receiver.name]
  expect([recorded.transfer.hours, people.toSorted()]).toEqual([1.25, ['Ada', 'Ben']])
})
