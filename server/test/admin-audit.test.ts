import { expect, test } from 'vitest'
import { recordAudits } from '../src/features/audit/record-many.ts'
import { addMember, hideMember } from '../src/features/members/change-member.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { eventually, startBank, TESTER } from './bank.ts'

async function start() {
  const bank = await startBank({ config: { role: 'api' } })
  const owner = await addAdmin(bank)
  const read = async (query = '') => (await owner.call(`/audit${query}`)).body
  return { bank, owner, read }
}

test('the audit log names who did what to whom, the newest first', async () => {
  const { bank, owner, read } = await start()
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  await hideMember(bank.sql, TESTER, bank.communityId, id)
  await owner.call('/categories', { body: { name: 'Garden' } })
  const { data } = await read('?limit=3')
  expect(data).toMatchObject([
    {
      actor: { kind: 'admin', id: owner.id, name: 'The owner', partner: null },
      action: 'category.added',
      subject: { kind: 'category', name: 'Garden' },
      detail: { name: 'Garden' },
    },
    { actor: { kind: 'system', id: null, name: 'test' }, action: 'member.hidden', subject: { kind: 'member', id } },
    { action: 'member.added', subject: { kind: 'member', id, name: 'Ada' }, member_ids: null },
  ])
})

test('a reading of email addresses names the partner, its client and the members', async () => {
  const { bank, read } = await start()
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada', email: 'ada@example.org' })
  await bank.call(`/users/${id}`, { token: await bank.token('users.read users.pii') })
  const [entry] = await eventually(async () => {
    const { data } = await read('?action=members.email_read')
    return data.length > 0 && data
  })
  expect(entry).toMatchObject({
    actor: { kind: 'client', name: bank.partner.clientId, partner: 'Bank' },
    member_ids: [id],
    subject: { kind: 'member', id: null, name: null },
  })
})

const ids = (body: { data: { subject: { id: number } }[] }) => body.data.map(({ subject }) => subject.id)

test('filters narrow the log, pages go on where the last one ended, and a strange filter is refused', async () => {
  const { bank, owner, read } = await start()
  const entries = Array.from({ length: 30 }, (_, n) => ({
    action: n % 2 ? 'thing.made' : 'thing.broken',
    subject: { kind: 'thing', id: n + 1 },
  }))
  await recordAudits(bank.sql, bank.communityId, TESTER, entries)

  const first = await read('?action=thing.&limit=20')
  expect(ids(first)).toEqual(Array.from({ length: 20 }, (_, n) => 30 - n))
  const second = await read(`?action=thing.&limit=20&cursor=${first.meta.next_cursor}`)
  expect(ids(second)).toEqual(Array.from({ length: 10 }, (_, n) => 10 - n))
  expect(second.meta.has_more).toBe(false)
  expect(ids(await read('?action=thing.made&limit=2'))).toEqual([30, 28])
  expect(ids(await read('?subject_kind=thing&subject_id=7'))).toEqual([7])
  expect(ids(await read(`?actor_kind=admin&actor_id=${owner.id}&subject_kind=thing`))).toEqual([])
  expect((await read('?actor_kind=system&limit=1')).data).toHaveLength(1)
  expect(ids(await read('?subject_kind=thing&from=2999-01-01T00:00:00Z'))).toEqual([])
  expect((await read('?subject_kind=thing&until=2999-01-01T00:00:00Z&limit=100')).data).toHaveLength(30)
  for (const bad of ['from=yesterday', 'actor_kind=ghost', 'subject_id=x', `cursor=${first.meta.next_cursor}`]) {
    expect((await owner.call(`/audit?${bad}`)).status).toBe(422)
  }
})

test('the log is downloaded as CSV with the same filters, and the download is recorded', async () => {
  const { bank, owner, read } = await start()
  await recordAudits(bank.sql, bank.communityId, { kind: 'system', name: '=cmd()' }, [
    { action: 'thing.made', subject: { kind: 'thing', id: 1 }, detail: { note: 'a, b' } },
  ])
  const file = await owner.call('/audit/export?action=thing.made')
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="town-audit.csv"')
  const [header, line, ...rest] = file.body.split('\r\n')
  expect(header).toContain('actor_name,action')
  expect(line).toContain("'=cmd(),thing.made,thing,1")
  expect(line).toContain('"{""note"":""a, b""}"')
  expect(rest).toEqual([''])
  expect((await read('?action=audit.exported')).data).toHaveLength(1)
})

test("the audit log is for those who run the community, and shows no other community's entries", async () => {
  const { bank } = await start()
  const stranger = await addAdmin(bank, 'owner', await bank.addCommunity('elsewhere'), 'elsewhere')
  for (const path of ['/audit', '/audit/export']) {
    expect((await newBrowser(bank).call(path)).body.error).toBe('sign_in_required')
    expect((await stranger.call(`/communities/town${path}`)).body.error).toBe('not_found')
  }
  const own = (await stranger.call('/audit')).body.data.map((entry: { action: string }) => entry.action)
  expect(own).toEqual(['admin.signed_in', 'admin.added', 'community.created'])
  expect((await (await addAdmin(bank, 'viewer')).call('/audit')).status).toBe(200)
})
