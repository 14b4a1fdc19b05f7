import { expect, test } from 'vitest'
import { addMember, leave } from '../src/features/members/change-member.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { startBank, TESTER, type Bank } from './bank.ts'

type Input = Parameters<typeof addMember>[3]

const add = (bank: Bank, input: Input, communityId = bank.communityId) =>
  addMember(bank.sql, TESTER, communityId, input)
const adjust = (bank: Bank, memberId: number, centihours: number) =>
  adjustBalance(bank.sql, TESTER, bank.communityId, { memberId, centihours, reason: 'Start' })

async function audited(bank: Bank, subjectId: number): Promise<string[]> {
  const rows = await bank.sql<{ action: string }[]>`
    select action from audit_log
    where community_id = ${bank.communityId} and actor_kind = 'admin' and subject_kind = 'member'
      and subject_id = ${subjectId} order by id`
  return rows.map(({ action }) => action)
}

const names = (answer: { body: any }): string[] => answer.body.data.map(({ name }: { name: string }) => name)

test('an administrator adds a member, finds them, and changes their record', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const added = await manager.call('/members', {
    body: { name: ' Ada Lang ', email: 'ada@example.org', external_id: 'K-7' },
  })
  expect(added.status).toBe(201)
  expect(added.body.data).toMatchObject({
    name: 'Ada Lang',
    email: 'ada@example.org',
    external_id: 'K-7',
    status: 'active',
    hidden: false,
    balance_hours: 0,
    left_at: null,
    erased_at: null,
  })
  const { id } = added.body.data

  const changed = await manager.call(`/members/${id}`, { method: 'PATCH', body: { name: 'Ada Long', email: '' } })
  expect(changed.body.data).toMatchObject({ name: 'Ada Long', email: null, external_id: 'K-7' })
  expect((await manager.call(`/members/${id}`)).body.data).toEqual(changed.body.data)
  expect(await audited(bank, id)).toEqual(['member.added', 'member.changed'])

  const same = await manager.call(`/members/${id}`, { method: 'PATCH', body: { name: 'Ada Long' } })
  expect(same.status).toBe(200)
  expect(await audited(bank, id)).toHaveLength(2)
})

test('errors of a form are reported beside their fields, and nothing is changed', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  await add(bank, { name: 'Ben', external_id: 'K-1' })
  const ada = await add(bank, { name: 'Ada' })

  const bad = await manager.call('/members', { body: { name: '  ', email: 'nowhere', external_id: 'x'.repeat(101) } })
  expect(bad.status).toBe(422)
  expect(bad.body.errors.map(({ field }: { field: string }) => field)).toEqual(['name', 'email', 'external_id'])
  expect((await manager.call('/members', { body: { email: 'ada@example.org' } })).body.errors).toMatchObject([
    { field: 'name', code: 'required' },
  ])
  for (const answer of [
    await manager.call('/members', { body: { name: 'Cleo', external_id: 'K-1' } }),
    await manager.call(`/members/${ada.id}`, { method: 'PATCH', body: { external_id: 'K-1' } }),
  ]) {
    expect(answer.status).toBe(422)
    expect(answer.body.errors).toMatchObject([{ field: 'external_id' }])
  }
  expect(names(await manager.call('/members'))).toEqual(['Ada', 'Ben'])
})

test('members are found by the beginning of any word of their data', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const zoe = await add(bank, { name: 'Zoë Ångström-Núñez', email: 'z.angstrom@mail.example', external_id: 'K/2026-7' })
  await add(bank, { name: 'Zora Berg' })
  await add(bank, { name: 'Олена Шевченко' })
  await add(bank, { name: 'ﷺ'.repeat(200) })
  const find = async (q: string) => names(await viewer.call(`/members?q=${encodeURIComponent(q)}`))

  for (const q of ['zoe', 'ZOË', 'ang nun', 'nunez', 'z.angstrom@mail.example', 'k/2026', zoe.payment_reference]) {
    expect(await find(q), q).toEqual(['Zoë Ångström-Núñez'])
  }
  expect(await find(zoe.payment_reference.replaceAll(/(.{4})/g, '$1 '))).toEqual(['Zoë Ångström-Núñez'])
  expect(await find('zo')).toEqual(['Zora Berg', 'Zoë Ångström-Núñez'])
  expect(await find('шев')).toEqual(['Олена Шевченко'])
  for (const q of ['zoe berg', 'nobody', "'", "' | '", '\\', '&', ':*']) expect(await find(q), q).toEqual([])
  expect(await find('  ')).toHaveLength(4)
})

test('the list is filtered by status and by what partners can see, and is read page by page', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const ids = new Map<string, number>()
  for (const name of ['Ada', 'Ben', 'Cleo', 'Dora', 'Emil']) ids.set(name, (await add(bank, { name })).id)
  await manager.call(`/members/${ids.get('Ben')}/leave`, { body: { balance: 'keep' } })
  await manager.call(`/members/${ids.get('Cleo')}/hide`, { method: 'POST' })
  await manager.call(`/members/${ids.get('Dora')}/erase`, { method: 'POST' })

  expect(names(await manager.call('/members'))).toEqual(['Emil', 'Cleo', 'Ben', 'Ada'])
  expect(names(await manager.call('/members?status=active'))).toEqual(['Emil', 'Cleo', 'Ada'])
  expect(names(await manager.call('/members?status=inactive'))).toEqual(['Ben'])
  expect(names(await manager.call('/members?status=erased'))).toEqual(['Erased member'])
  expect(names(await manager.call('/members?hidden=true'))).toEqual(['Cleo'])
  expect(names(await manager.call('/members?hidden=false&status=active'))).toEqual(['Emil', 'Ada'])

  const first = await manager.call('/members?limit=3')
  expect(first.body.meta).toMatchObject({ limit: 3, has_more: true })
  const rest = await manager.call(`/members?limit=3&cursor=${first.body.meta.next_cursor}`)
  expect([...names(first), ...names(rest)]).toEqual(['Emil', 'Cleo', 'Ben', 'Ada'])
  expect(rest.body.meta).toMatchObject({ has_more: false, next_cursor: null })
  expect((await manager.call(`/members?status=active&cursor=${first.body.meta.next_cursor}`)).status).toBe(422)
})

test('a statement shows every movement with the balance after it, within the days asked for', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const [ada, ben] = [await add(bank, { name: 'Ada' }), await add(bank, { name: 'Ben' })]
  await adjust(bank, ada.id, 500)
  const [exchange] = await recordExchanges(bank.sql, TESTER, bank.communityId, [
    { giverId: ben.id, receiverId: ada.id, centihours: 125, note: 'Garden' },
  ])
  await reverseTransfer(bank.sql, TESTER, bank.communityId, { transferId: exchange!.id, reason: 'Wrong person' })
  const token = await bank.token()
  await bank.call('/wallet/credit', { token, body: { user_id: ada.id, hours: 2.5, reference: 'tx-1', note: 'Rent' } })

  const { body } = await viewer.call(`/members/${ada.id}/statement`)
  expect(body.data).toMatchObject([
    {
      kind: 'credit',
      hours: 2.5,
      balance_hours: 7.5,
      reference: 'tx-1',
      note: 'Rent',
      other: { kind: 'partner', name: 'Bank' },
    },
    { kind: 'reversal', hours: 1.25, balance_hours: 5, reverses_id: exchange!.id, note: 'Wrong person' },
    {
      kind: 'exchange',
      hours: -1.25,
      balance_hours: 3.75,
      note: 'Garden',
      other: { kind: 'member', id: ben.id, name: 'Ben' },
    },
    { kind: 'adjustment', hours: 5, balance_hours: 5, other: { kind: 'community', id: null, name: 'Town' } },
  ])
  expect(body.data[2].reversed_by_id).toBe(body.data[1].id)
  expect(body.meta).toMatchObject({ opening_balance_hours: 0, closing_balance_hours: 7.5 })

  // Recorded today, but of other days.
  await bank.sql`update transfers set occurred_on = '2026-03-01' where id < ${body.data[1].id}`
  await bank.sql`update transfers set occurred_on = '2026-03-02' where id >= ${body.data[1].id}`
  const march = await viewer.call(`/members/${ada.id}/statement?from=2026-03-02&until=2026-03-02`)
  expect(march.body.data.map(({ kind }: { kind: string }) => kind)).toEqual(['credit', 'reversal'])
  expect(march.body.meta).toMatchObject({ opening_balance_hours: 3.75, closing_balance_hours: 7.5 })
  const before = await viewer.call(`/members/${ada.id}/statement?until=2026-03-01`)
  expect(before.body.meta).toMatchObject({ opening_balance_hours: 0, closing_balance_hours: 3.75 })

  const pages = [await viewer.call(`/members/${ada.id}/statement?limit=3`)]
  pages.push(await viewer.call(`/members/${ada.id}/statement?limit=3&cursor=${pages[0]!.body.meta.next_cursor}`))
  expect(pages.flatMap((page) => page.body.data)).toHaveLength(4)
  const wrong = await viewer.call(`/members/${ada.id}/statement?from=2026-03-02&until=2026-03-01`)
  expect(wrong).toMatchObject({ status: 422, body: { errors: [{ field: 'until' }] } })
})

test('an administrator sees which partner read the email address of a member, and when', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const [ada, ben] = [await add(bank, { name: 'Ada', email: 'ada@example.org' }), await add(bank, { name: 'Ben' })]
  const token = await bank.token('users.read users.pii')
  const read = await bank.call(`/users/${ada.id}`, { token })
  const { body } = await viewer.call(`/members/${ada.id}/email-reads`)
  expect(body.data).toMatchObject([
    {
      partner: { id: bank.partner.partnerId, name: 'Bank' },
      client_id: bank.partner.clientId,
      request_id: read.headers.get('request-id'),
    },
  ])
  expect((await viewer.call(`/members/${ben.id}/email-reads`)).body.data).toEqual([])
})

test('a member who leaves keeps their hours, or gives them to the community with a reason', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const [ada, ben] = [await add(bank, { name: 'Ada' }), await add(bank, { name: 'Ben' })]
  await adjust(bank, ada.id, 350)
  await adjust(bank, ben.id, -100)

  const kept = await manager.call(`/members/${ada.id}/leave`, { body: { balance: 'keep' } })
  expect(kept.body.data).toMatchObject({ status: 'inactive', balance_hours: 3.5 })
  expect(kept.body.data.left_at).not.toBeNull()
  expect((await manager.call(`/members/${ada.id}/leave`, { body: { balance: 'keep' } })).status).toBe(409)
  expect((await manager.call(`/members/${ada.id}/return`, { method: 'POST' })).body.data).toMatchObject({
    status: 'active',
    left_at: null,
  })

  for (const [member, hours] of [
    [ada, 3.5],
    [ben, -1],
  ] as const) {
    const refused = await manager.call(`/members/${member.id}/leave`, { body: { balance: 'to_community' } })
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ field: 'reason' }] } })
    expect((await manager.call(`/members/${member.id}`)).body.data).toMatchObject({ status: 'active' })
    const body = { balance: 'to_community', reason: 'Moved away' }
    const left = await manager.call(`/members/${member.id}/leave`, { body })
    expect(left.body.data).toMatchObject({ status: 'inactive', balance_hours: 0 })
    const { body: statement } = await manager.call(`/members/${member.id}/statement`)
    expect(statement.data[0]).toMatchObject({ kind: 'adjustment', hours: -hours, note: 'Moved away' })
  }
  expect(await audited(bank, ada.id)).toEqual(['member.left', 'member.returned', 'member.left'])
  expect((await manager.call(`/members/${ada.id}/leave`, { body: { balance: 'burn' } })).status).toBe(422)
})

test('hiding, showing and erasing are audited, and an erased member cannot be restored', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const ada = await add(bank, { name: 'Ada', email: 'ada@example.org', external_id: 'K-7' })
  await adjust(bank, ada.id, 100)
  expect((await manager.call(`/members/${ada.id}/hide`, { method: 'POST' })).body.data).toMatchObject({ hidden: true })
  expect((await manager.call(`/members/${ada.id}/show`, { method: 'POST' })).body.data).toMatchObject({ hidden: false })
  expect((await manager.call(`/members/${ada.id}/erase`, { method: 'POST' })).body).toEqual({ data: {} })

  const { body } = await manager.call(`/members/${ada.id}`)
  expect(body.data).toMatchObject({ name: 'Erased member', email: null, external_id: null, balance_hours: 1 })
  expect(body.data.erased_at).not.toBeNull()
  for (const q of ['ada', 'K-7', 'example']) expect((await manager.call(`/members?q=${q}`)).body.data).toEqual([])
  for (const action of ['hide', 'return', 'erase']) {
    expect((await manager.call(`/members/${ada.id}/${action}`, { method: 'POST' })).status).toBe(404)
  }
  expect(await audited(bank, ada.id)).toEqual(['member.hidden', 'member.shown', 'member.left', 'member.erased'])
})

test('Ctrl-K finds members and partners by any text, up to eight of each', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  for (let n = 1; n <= 9; n++) await add(bank, { name: `Riva ${n}` })
  await bank.addPartner({ name: 'The Riverside Savings Bank' })
  const { body } = await viewer.call('/search?q=riv')
  expect(body.data.members).toHaveLength(8)
  expect(body.data.partners).toMatchObject([{ name: 'The Riverside Savings Bank', status: 'active' }])
  expect((await viewer.call('/search?q=riv%20sav')).body.data).toMatchObject({ members: [], partners: [{}] })
  expect((await viewer.call('/search?q=%20')).body.data).toEqual({ members: [], partners: [] })
})

const reads = (id: number | string) => ['', '/statement', '/email-reads'].map((rest) => `/members/${id}${rest}`)
const changes = (id: number | string) =>
  [
    [`/members/${id}`, { method: 'PATCH', body: { name: 'X' } }],
    ...['hide', 'show', 'return', 'erase'].map((name) => [`/members/${id}/${name}`, { method: 'POST' }] as const),
    [`/members/${id}/leave`, { body: { balance: 'keep' } }],
  ] as const

test('nobody reads or changes members without a session, as a viewer, or in another community', async () => {
  const bank = await startBank()
  const elsewhere = await bank.addCommunity('elsewhere')
  const stranger = await add(bank, { name: 'Stranger' }, elsewhere)
  const ada = await add(bank, { name: 'Ada' })
  const [viewer, manager] = [await addAdmin(bank, 'viewer'), await addAdmin(bank, 'manager')]
  const csv = { headers: { 'content-type': 'text/csv' }, body: 'external_id,name\r\n1,Ada\r\n' }

  for (const path of ['/members', '/members/export', '/search?q=a', ...reads(ada.id)]) {
    expect((await newBrowser(bank).call(path)).status, path).toBe(401)
    expect((await viewer.call(path)).status, path).toBe(200)
  }
  for (const [path, options] of [
    ['/members', { body: { name: 'New' } }],
    ['/members/import', csv],
    ...changes(ada.id),
  ] as const) {
    expect((await newBrowser(bank).call(path, options)).status, path).toBe(401)
    expect((await viewer.call(path, options)).body.error, path).toBe('role_insufficient')
  }
  for (const id of [stranger.id, 'x', '0', '99999999999999999999']) {
    for (const path of reads(id)) expect((await manager.call(path)).status, path).toBe(404)
    for (const [path, options] of changes(id)) expect((await manager.call(path, options)).status, path).toBe(404)
  }
  expect((await manager.call('/communities/elsewhere/members')).status).toBe(404)
  const all = await bank.sql`select name, status, hidden from members order by name`
  expect(all.map((row) => ({ ...row }))).toEqual([
    { name: 'Ada', status: 'active', hidden: false },
    { name: 'Stranger', status: 'active', hidden: false },
  ])
})

test('a member who left is found, and can be read, as before', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const ada = await add(bank, { name: 'Ada' })
  await leave(bank.sql, TESTER, bank.communityId, ada.id)
  expect(names(await viewer.call('/members?q=ada'))).toEqual(['Ada'])
  expect((await viewer.call(`/members/${ada.id}`)).body.data).toMatchObject({ status: 'inactive' })
})
