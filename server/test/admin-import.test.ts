import { expect, test } from 'vitest'
import { IMPORT_BYTES_MAX } from '../src/features/spreadsheets/receive-import.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { addAdmin, newBrowser, type TestAdmin } from './admin.ts'
import { startBank, TESTER, type Bank } from './bank.ts'

const LINES = 'application/x-ndjson'

function send(admin: TestAdmin, path: string, csv: string, headers: Record<string, string> = {}) {
  return admin.call(path, { body: csv, headers: { 'content-type': 'text/csv', ...headers } })
}

const table = (...rows: string[]) => `${rows.join('\r\n')}\r\n`

async function names(bank: Bank): Promise<string[]> {
  const rows = await bank.sql<{ name: string }[]>`select name from members order by id`
  return rows.map(({ name }) => name)
}

const FILE = table(
  'external_id,name,email',
  'K-1,Ada Lang,ada@example.org',
  'K-2,,nowhere',
  'K-3,Cleo,',
  'K-3,Cleo again,',
  'K-4,Dora,dora@example.org',
)

async function startWithAda() {
  const bank = await startBank()
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada', external_id: 'K-1', email: 'ada@example.org' })
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Dora', external_id: 'K-4', email: 'dora@example.org' })
  return { bank, manager: await addAdmin(bank, 'manager') }
}

test('empty cells keep values by default, and clear them on request', async () => {
  const { bank, manager } = await startWithAda()
  const file = table('external_id,name,email', 'K-1,Ada,')
  const emails = async () => (await bank.sql`select email from members order by id`).map(({ email }) => email)
  expect((await send(manager, '/members/import', file)).body.data).toMatchObject({ unchanged: 1, changed: 0 })
  expect(await emails()).toEqual(['ada@example.org', 'dora@example.org'])
  const cleared = await send(manager, '/members/import?empty_cells=clear', file)
  expect(cleared.body.data).toMatchObject({ changed: 1 })
  expect(await emails()).toEqual([null, 'dora@example.org'])
  expect((await send(manager, '/members/import?empty_cells=perhaps', file)).status).toBe(422)
})

test('a preview reports the outcome of every row by line, and writes nothing', async () => {
  const { bank, manager } = await startWithAda()
  const { status, body } = await send(manager, '/members/import?dry_run=true', FILE)
  expect(status).toBe(200)
  const { fates, ...totals } = body.data
  expect(totals).toEqual({
    dry_run: true,
    written: false,
    rows: 5,
    added: 1,
    changed: 1,
    unchanged: 1,
    refused: 2,
    fates_left_out: 0,
  })
  expect(fates).toMatchObject([
    { line: 2, outcome: 'changed', reason: 'name', external_id: 'K-1', name: 'Ada Lang' },
    { line: 3, outcome: 'refused', external_id: 'K-2' },
    { line: 4, outcome: 'added', name: 'Cleo' },
    { line: 5, outcome: 'refused', reason: 'The external id is in line 4 already.' },
    { line: 6, outcome: 'unchanged' },
  ])
  expect(fates[1].reason).toMatch(/name.*email/)
  expect(await names(bank)).toEqual(['Ada', 'Dora'])
})

test('one bad row keeps everything from being written, unless bad rows are left out', async () => {
  const { bank, manager } = await startWithAda()
  const refused = await send(manager, '/members/import', FILE)
  expect(refused.body.data).toMatchObject({ written: false, refused: 2 })
  expect(refused.body.data.fates.map(({ line }: { line: number }) => line)).toEqual([3, 5])
  expect(await names(bank)).toEqual(['Ada', 'Dora'])

  const written = await send(manager, '/members/import?skip_bad=true', FILE)
  expect(written.body.data).toMatchObject({ written: true, added: 1, changed: 1, refused: 2 })
  expect((await names(bank)).toSorted()).toEqual(['Ada Lang', 'Cleo', 'Dora'])
  const audit = await bank.sql<{ action: string; actor_kind: string }[]>`
    select action, actor_kind from audit_log where actor_id = ${manager.id} and action like 'member%' order by id`
  expect(audit.map(({ action }) => action)).toEqual(['member.added', 'member.changed', 'members.imported'])
})

test('a caller that accepts lines gets the progress while rows are written, and the outcome last', async () => {
  const { bank, manager } = await startWithAda()
  const rows = Array.from({ length: 2_500 }, (_, n) => `N-${n},Person ${n}`)
  const answer = await send(manager, '/members/import', table('external_id,name', ...rows), { accept: LINES })
  expect(answer.headers.get('content-type')).toContain(LINES)
  const lines = answer.body
    .trim()
    .split('\n')
    .map((line: string) => JSON.parse(line))
  const progress = lines.slice(0, -1).map((line: any) => line.progress)
  expect(progress).toEqual([1000, 2000, 2500].map((done) => ({ done, total: 2500 })))
  expect(lines.at(-1).data).toMatchObject({ written: true, added: 2_500 })
  expect(await names(bank)).toHaveLength(2_502)

  const broken = await send(manager, '/members/import', 'external_id,name\r\n"', { accept: LINES })
  expect(broken).toMatchObject({ status: 422, body: { errors: [{ field: 'file' }] } })
})

test('a file that is not a table or too large is rejected with a message, and nothing is written', async () => {
  const { bank, manager } = await startWithAda()
  for (const [csv, words] of [
    ['', 'empty'],
    ['PK\x03\x04 and so on', 'save it as CSV'],
    ['%PDF-1.7', 'PDF'],
    ['external_id,nome\r\nK-9,Eva\r\n', 'nome'],
    ['external_id,name\r\nK-9,"Eva\r\n', 'never closed'],
  ] as const) {
    const { status, body } = await send(manager, '/members/import?dry_run=true', csv)
    expect({ status, field: body.errors?.[0].field }, csv).toEqual({ status: 422, field: 'file' })
    expect(body.error_description).toContain(words)
  }
  const row = `K-9,${'x'.repeat(190)}\r\n`
  const large = `external_id,name\r\n${row.repeat(Math.ceil(IMPORT_BYTES_MAX / row.length) + 1)}`
  // The refusal may come while the file is still being sent; then the connection is closed on it.
  const tooLarge = await send(manager, '/members/import', large).catch(() => undefined)
  if (tooLarge) expect(tooLarge).toMatchObject({ status: 413, body: { error: 'payload_too_large' } })
  expect((await manager.call('/members/import', { body: {} })).status).toBe(415)
  const nothing = await manager.call('/members/import', { method: 'POST' })
  expect(nothing).toMatchObject({ status: 422, body: { errors: [{ field: 'file' }] } })
  expect(await names(bank)).toEqual(['Ada', 'Dora'])
})

test('an export is a file that an import takes back unchanged, and is audited', async () => {
  const { bank, manager } = await startWithAda()
  await addMember(bank.sql, TESTER, bank.communityId, { name: '=1+1 "quoted", with a comma' })
  const answer = await manager.call('/members/export')
  expect(answer.headers.get('content-type')).toContain('text/csv')
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="town-members.csv"')
  expect(answer.body).toContain("'=1+1")
  const { body } = await send(manager, '/members/import?dry_run=true', answer.body)
  expect(body.data).toMatchObject({ rows: 3, unchanged: 3 })
  const [entry] =
    await bank.sql`select action from audit_log where actor_id = ${manager.id} and action like '%.exported'`
  expect(entry).toMatchObject({ action: 'members.exported' })
})

test('listings are imported for the members whom the file names, and exported again', async () => {
  const { manager } = await startWithAda()
  const file = table(
    'external_id,member_external_id,type,title,category,hours',
    'L-1,K-1,service,Bread,Kitchen,1.5',
    'L-2,K-9,service,Nobody,Kitchen,1',
    'L-3,K-4,gift,Chairs,Home,',
  )
  const preview = await send(manager, '/listings/import?dry_run=true', file)
  expect(preview.body.data.fates).toMatchObject([
    { line: 2, outcome: 'added', name: 'Bread' },
    { line: 3, outcome: 'refused', reason: 'There is no member with the external id K-9.' },
    { line: 4, outcome: 'refused', reason: 'The type must be service or request.' },
  ])
  expect((await manager.call('/listings')).body.data).toEqual([])
  await send(manager, '/listings/import?skip_bad=true', file)
  const { body } = await manager.call('/listings')
  expect(body.data).toMatchObject([{ title: 'Bread', hours: 1.5, member: { name: 'Ada' } }])
  expect((await manager.call('/listings/export')).body).toContain('L-1,K-1,service,Bread')
})

test('two rows of one file with the same member or listing, by its stand-in id and by its number, are refused', async () => {
  const { bank, manager } = await startWithAda()
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Eva' })
  const standIn = async (what: string, name: string) => {
    const rows = (await manager.call(`/${what}/export`)).body.split('\r\n') as string[]
    return rows.find((row) => row.includes(name))!.split(',')[0]!
  }
  const eva = await standIn('members', 'Eva')
  await manager.call(`/members/${id}`, { method: 'PATCH', body: { external_id: 'K-7' } })
  const people = table('external_id,name,opening_balance', `${eva},First Eva,1`, 'K-1,Ada,', 'K-7,Second Eva,2')
  const repeated = { line: 4, outcome: 'refused', reason: 'The external id is in line 2 already.' }
  const preview = await send(manager, '/members/import?dry_run=true', people)
  expect(preview.body.data).toMatchObject({ changed: 1, unchanged: 1, refused: 1 })
  expect(preview.body.data.fates[2]).toMatchObject(repeated)
  expect((await send(manager, '/members/import', people)).body.data).toMatchObject({
    written: false,
    fates: [repeated],
  })
  expect((await send(manager, '/members/import?skip_bad=true', people)).body.data).toMatchObject({ changed: 1 })
  expect(await names(bank)).toEqual(['Ada', 'Dora', 'First Eva'])

  const listing = { member_id: id, type: 'service', title: 'Bread', category: 'Kitchen' }
  await manager.call('/listings', { body: listing })
  const bread = await standIn('listings', 'Bread')
  await bank.sql`update listings set external_id = 'L-1'`
  const head = 'external_id,member_external_id,type,title,category'
  const offers = table(
    head,
    'L-1,K-7,service,Rye,Kitchen',
    'L-2,K-7,service,Soup,Kitchen',
    `${bread},K-7,service,Rolls,Kitchen`,
  )
  expect((await send(manager, '/listings/import', offers)).body.data).toMatchObject({ refused: 1, fates: [repeated] })
})

test('only managers inspect and map a file with other headers, and its mapping is saved per community', async () => {
  const { bank, manager } = await startWithAda()
  const file = table('Nummer;Vorname;Nachname;Saldo', '9;Eva;Au;1,5')
  const look = await send(manager, '/members/import/inspect', file)
  expect(look).toMatchObject({
    status: 200,
    body: {
      data: {
        encoding: 'utf-8',
        delimiter: 'semicolon',
        decimal: 'comma',
        header: ['Nummer', 'Vorname', 'Nachname', 'Saldo'],
        rows: [['9', 'Eva', 'Au', '1,5']],
        columns: 'external_id:0,name:1,name:2,opening_balance:3',
        remembered: false,
        has_own_names: false,
      },
    },
  })
  const query = `columns=${look.body.data.columns}&file_name=Liste.csv`
  expect((await send(manager, `/members/import?${query}`, file)).body.data).toMatchObject({
    written: true,
    added: 1,
    openings: { members: 1, hours: 1.5 },
  })
  expect((await send(manager, '/members/import/inspect', file)).body.data.remembered).toBe(true)
  expect((await send(manager, '/members/import?columns=name', file)).status).toBe(422)
  for (const name of ['constructor', '__proto__', 'to_string']) {
    for (const path of ['/members/import', '/listings/import']) {
      const { status, body } = await send(manager, `${path}?columns=${name}:0,external_id:0`, file)
      expect({ status, field: body.errors?.[0].field }, name).toEqual({ status: 422, field: 'columns' })
    }
  }

  const viewer = await addAdmin(bank, 'viewer')
  expect((await send(viewer, '/members/import/inspect', file)).status).toBe(403)
  const owner = await addAdmin(bank, 'owner', await bank.addCommunity('other'), 'other')
  expect((await send(owner, '/members/import/inspect', file)).body.data.remembered).toBe(false)
  const nobody = newBrowser(bank)
  const csv = { method: 'POST', body: file, headers: { 'content-type': 'text/csv' } }
  expect((await nobody.call('/members/import/inspect', csv)).status).toBe(401)

  const exported = await manager.call('/members/export?delimiter=tab&encoding=utf-16le')
  expect(exported.headers.get('content-type')).toBe('text/csv; charset=utf-16le')
  const semicolons = await manager.call('/members/export?delimiter=semicolon')
  expect(semicolons.body).toMatch(/^\uFEFF?external_id;name;/)
  expect(semicolons.body).toMatch(/9;Eva Au;.*;1,5;RF\d+\r\n/)
  expect((await manager.call('/members/export?delimiter=pipe')).status).toBe(422)
})
