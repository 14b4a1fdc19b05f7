import { mkdtempSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { detectFormat } from '../src/csv/detect-format.ts'
import { LANGUAGES, type Language } from '../src/core/languages.ts'
import type { CommunityRow } from '../src/features/communities/queries.ts'
import { listingsExport } from '../src/features/listings/export-listings.ts'
import { importListings } from '../src/features/listings/import-listings.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { membersExport } from '../src/features/members/export-members.ts'
import { importMembers } from '../src/features/members/import-members.ts'
import { readWord } from '../src/features/spreadsheets/cell-words.ts'
import { addAdmin } from './admin.ts'
import { startBank, TESTER } from './bank.ts'
import { command, lines, load, newCommunity, run, save, sql } from './csv-communities.ts'

async function membersOf({ id }: CommunityRow) {
  const rows = await sql`
    select external_id, name, email, phone, address, notes from members where community_id = ${id} order by id`
  return rows.map((row) => ({ ...row }))
}

/** One byte at a time: nothing may depend on where chunks end. */
const detect = (text: string, given = {}) =>
  detectFormat(async function* () {
    for (const byte of Buffer.from(text)) yield Buffer.from([byte])
  }, given)

describe('rows that a spreadsheet wrote shorter than the first line', () => {
  const head = 'external_id,name,email,phone,notes'

  test('have empty cells at the end, which keep what is there', async () => {
    const community = await newCommunity()
    await load(importMembers, community, lines(head, '1,Ada,ada@example.org,0664 1,knits', '2,Ben,ben@example.org,,'))
    const { summary, fates } = await load(importMembers, community, lines(head, '1,Ada Lang', '2,Ben', '3,Cleo,'))
    expect({ summary, fates }).toMatchObject({ summary: { changed: 1, unchanged: 1, added: 1, written: true } })
    expect(await membersOf(community)).toMatchObject([
      { name: 'Ada Lang', email: 'ada@example.org', phone: '0664 1', notes: 'knits' },
      { name: 'Ben', email: 'ben@example.org', phone: null },
      { name: 'Cleo', email: null, notes: null },
    ])
  })

  test('are rejected with advice where empty cells clear and an imported column is missing', async () => {
    const community = await newCommunity()
    const full = lines(head, '1,Ada,ada@example.org,0664 1,knits', '2,Ben,ben@example.org,,reads')
    await load(importMembers, community, full)
    const before = await membersOf(community)
    const short = lines(head, '1,Ada,ada@example.org', '2,Ben,,,', '3,Cleo,cleo@example.org')
    const reason =
      'The row has 3 fields, the first line 5: spreadsheets leave out empty cells at the end. To clear what is there, ' +
      'add a last column to the table that is filled in every row.'
    const { summary, fates } = await load(importMembers, community, short, { clearEmpty: true })
    expect(summary).toMatchObject({ refused: 2, written: false })
    expect(fates).toEqual([
      { line: 2, outcome: 'refused', reason },
      { line: 4, outcome: 'refused', reason },
    ])
    expect(await membersOf(community)).toEqual(before)

    // What is missing is in no column that is read.
    const layout = { columns: { external_id: [0], name: [1], email: [2] } }
    const read = await load(importMembers, community, short, { clearEmpty: true, layout })
    expect(read.summary).toMatchObject({ unchanged: 1, changed: 1, added: 1, written: true })
    expect(await membersOf(community)).toMatchObject([
      { email: 'ada@example.org', phone: '0664 1', notes: 'knits' },
      { email: null, notes: 'reads' },
      { name: 'Cleo' },
    ])
  })

  test('are rejected without number and name, and longer rows unless the extra cells are empty', async () => {
    const community = await newCommunity()
    const table = lines(
      'Notiz;Nummer;Vorname;Nachname',
      'x;1;Ada',
      'x;2',
      'x;3;Cleo;Au;;',
      'x;4;Dora;Ehr; ; y',
      'x;5;Eva;',
    )
    const layout = { columns: { external_id: [1], name: [2, 3], notes: [0] } }
    const { fates } = await load(importMembers, community, table, { layout, dryRun: true })
    expect(fates).toMatchObject([
      { line: 2, outcome: 'refused', reason: 'The row has 3 fields, the first line 4.' },
      { line: 3, outcome: 'refused', reason: 'The row has 2 fields, the first line 4.' },
      { line: 4, outcome: 'added' },
      { line: 5, outcome: 'refused', reason: 'The row has 6 fields, the first line 4.' },
      { line: 6, outcome: 'added' },
    ])
  })

  test('are rejected where they end within an address of several columns, because the rest would be lost', async () => {
    const community = await newCommunity()
    const layout = { columns: { external_id: [0], name: [1], address: [2, 3, 4] } }
    const parts = 'Nr;Name;Straße;PLZ;Ort'
    await load(importMembers, community, lines(parts, '1;Ada;Ring 1;1010;Wien', '2;Ben;Weg 2;8010;Graz'), { layout })
    const { fates } = await load(importMembers, community, lines(parts, '1;Ada;Ring 1;1010', '2;Ben; '), {
      skipBad: true,
    })
    expect(fates).toMatchObject([{ line: 2, reason: 'The row has 4 fields, the first line 5.' }])
    expect(await membersOf(community)).toMatchObject([{ address: 'Ring 1 1010 Wien' }, { address: 'Weg 2 8010 Graz' }])
  })

  test('of spaces only are empty', async () => {
    const { summary } = await load(
      importMembers,
      await newCommunity(),
      lines(head, '1,Ada', '  , ,,,', '\u00A0', '2,Ben'),
    )
    expect(summary).toMatchObject({ rows: 2, added: 2 })
  })
})

describe('a first line that names the delimiter', () => {
  const table = lines('external_id;name;email', '1;Ada, known as A, B, C;', '2;Ben;ben@example.org')

  test.each([
    ['sep=;\r\n', 'semicolon'],
    ['SEP=;\n', 'semicolon'],
    ['\uFEFF"sep=;"\r\n', 'semicolon'],
    ['sep=,\r\n', 'comma'],
    ['sep=\t\r\n', 'tab'],
    ['sep=|\r\n', 'semicolon'],
  ])('%j is no row, and says it', async (first, delimiter) => {
    const { sample, ...format } = await detect(`${first}${table}`)
    expect(format.delimiter).toBe(delimiter)
    expect(sample[0]).toMatchObject({
      line: 2,
      fields: expect.arrayContaining([expect.stringContaining('external_id')]),
    })
    // A person may choose otherwise.
    expect((await detect(`${first}${table}`, { delimiter: 'semicolon' })).sample[0]!.fields).toHaveLength(3)
  })

  test('the table is imported, and its lines are numbered as in the file', async () => {
    const community = await newCommunity()
    const { fates } = await load(importMembers, community, `sep=;\r\n${table}3;;\r\n`, { dryRun: true })
    expect(fates).toMatchObject([{ line: 3 }, { line: 4 }, { line: 5, outcome: 'refused' }])
    const { summary } = await load(importMembers, community, `sep=;\r\n${table}`)
    expect(summary).toMatchObject({ added: 2, written: true })
    expect(await membersOf(community)).toMatchObject([{ name: 'Ada, known as A, B, C' }, { name: 'Ben' }])
  })

  test('is a row like any other further down', async () => {
    expect((await detect('external_id;name\r\nsep=;\r\n')).sample).toMatchObject([
      { line: 1 },
      { line: 2, fields: ['sep=', ''] },
    ])
  })
})

describe('a day that does not exist', () => {
  test.each([
    ['31.02.2024', 'day_first', 'The day of joining, 31.02.2024, does not exist.'],
    ['29/2/2023 00:00', 'day_first', 'The day of joining, 29/2/2023, does not exist.'],
    ['2/30/2024', 'month_first', 'The day of joining, 2/30/2024, does not exist.'],
    ['2023-02-29', 'day_first', 'The day of joining, 2023-02-29, does not exist.'],
    ['2023-06-31T12:00:00Z', 'day_first', 'The day of joining, 2023-06-31, does not exist.'],
    // The order of day and month may be wrong.
    ['31/5/2024', 'month_first', 'The time of joining must be like 2024-05-31, 5/31/2024 or 2024-05-31T12:00:00Z.'],
    ['5/31/2024', 'day_first', 'The time of joining must be like 2024-05-31, 31.5.2024 or 2024-05-31T12:00:00Z.'],
  ] as const)('is told as such: %s', async (day, dates, reason) => {
    const file = lines('external_id,name,joined_at', `1,Ada,${day}`)
    const { fates } = await load(importMembers, await newCommunity(), file, { layout: { dates } })
    expect(fates).toEqual([{ line: 2, outcome: 'refused', reason }])
  })
})

describe('cells may have the words of the console, and what Excel writes', () => {
  let community: CommunityRow
  beforeAll(async () => {
    community = await newCommunity()
    await load(importMembers, community, lines('external_id,name', 'K-1,Ada'))
  })

  test.each([
    ['service', 'service'],
    ['Service', 'service'],
    ['Angebot', 'service'],
    ['OFERTA', 'service'],
    ['Offre', 'service'],
    ['عرض', 'service'],
    ['Offer', 'service'],
    ['request', 'request'],
    ['Gesuch', 'request'],
    ['demanda', 'request'],
    ['Demande', 'request'],
    ['طلب', 'request'],
  ])('the type %s is %s', async (word, type) => {
    const head = 'external_id,member_external_id,type,title,category'
    await load(importListings, community, lines(head, `T-${word},K-1,${word},Bread,Kitchen`))
    const [row] = await sql`
      select type from listings where community_id = ${community.id} and external_id = ${`T-${word}`}`
    expect(row).toEqual({ type })
  })

  test.each([
    ['Offen', 'active'],
    ['Aktiv', 'active'],
    ['abierto', 'active'],
    ['Ouverte', 'active'],
    ['مفتوح', 'active'],
    ['Open', 'active'],
    ['Geschlossen', 'closed'],
    ['cerrada', 'closed'],
    ['Fermée', 'closed'],
    ['ferme\u0301', 'closed'],
    ['مغلق', 'closed'],
    ['CLOSED', 'closed'],
  ])('a listing that is %s is %s', async (word, status) => {
    const head = 'external_id,member_external_id,type,title,category,status'
    await load(importListings, community, lines(head, `S-${word},K-1,service,Bread,Kitchen,${word}`))
    const [row] = await sql`
      select status from listings where community_id = ${community.id} and external_id = ${`S-${word}`}`
    expect(row).toEqual({ status })
  })

  test.each([
    ['Aktiv', 'ja', 'active', true],
    ['inaktiv', 'Nein', 'inactive', false],
    ['ausgetreten', 'WAHR', 'inactive', true],
    ['activo', 'FALSCH', 'active', false],
    ['Inactiva', 'sí', 'inactive', true],
    ['De baja', 'Si', 'inactive', true],
    ['actif', 'no', 'active', false],
    ['INACTIVE', 'Oui', 'inactive', true],
    ['parti', 'non', 'inactive', false],
    ['نشط', 'نعم', 'active', true],
    ['غير نشط', 'لا', 'inactive', false],
    ['غادر', 'VRAI', 'inactive', true],
    ['active', 'FAUX', 'active', false],
    ['left', 'VERDADERO', 'inactive', true],
    ['Active', 'FALSO', 'active', false],
    ['Active', 'yes', 'active', true],
    ['Active', 'TRUE', 'active', true],
  ])('a member who is %s, hidden %s', async (status, hidden, wanted, isHidden) => {
    const [number, name] = [`${status} ${hidden}`, 'Ada']
    await load(
      importMembers,
      community,
      lines('external_id,name,status,hidden', `${number},${name},${status},${hidden}`),
    )
    const [row] = await sql`
      select status, hidden from members where community_id = ${community.id} and external_id = ${number}`
    expect(row).toEqual({ status: wanted, hidden: isHidden })
  })

  test.each([
    ['service, request', 'listingType', ['service', 'request']],
    ['open, closed', 'listingStatus', ['active', 'closed']],
    ['active, inactive', 'memberStatus', ['active', 'inactive']],
    ['yes, no', 'truth', ['true', 'false']],
  ] as const)('the words that translations use for %s are among them', async (english, kind, values) => {
    const guide = await readFile(join(import.meta.dirname, '../../docs/translating.md'), 'utf8')
    const row = guide.split('\n').find((line) => line.startsWith(`| ${english} `))!
    const cells = row.split('|').slice(1, -1)
    expect(cells).toHaveLength(LANGUAGES.length)
    const words = cells.map((cell) => cell.split(/[,،]/).map((word) => readWord(kind, word.trim())))
    expect(words).toEqual(cells.map(() => values))
  })

  test('other words are refused, and exports write what they wrote', async () => {
    const town = await newCommunity()
    const head = 'external_id,name,status,hidden'
    const { fates } = await load(importMembers, town, lines(head, '1,Ada,constructor,vielleicht', '2,Ben,,x'))
    expect(fates.map(({ reason }) => reason)).toEqual([
      'The status must be active or inactive. Hidden must be true or false.',
      'Hidden must be true or false.',
    ])
    await load(importMembers, town, lines(head, '1,Ada,Aktiv,Ja'))
    expect(await save(membersExport(town))).toContain(',active,true,')
    const offers = 'external_id,member_external_id,type,title,category,status'
    await load(importListings, town, lines(offers, 'L-1,1,Gesuch,Bread,Kitchen,Offen'))
    expect(await save(listingsExport(town))).toMatch(/L-1,1,request,Bread,.*,active,/)
  })
})

describe('the reason of opening balances', () => {
  const WORDS: Record<Language, string> = {
    en: 'Opening balance from Liste.csv',
    de: 'Anfangsstand aus Liste.csv',
    es: 'Saldo inicial de Liste.csv',
    fr: 'Solde initial de Liste.csv',
    ar: 'الرصيد الافتتاحي من Liste.csv',
  }
  test.each(LANGUAGES)('is in the language of the community: %s', async (language) => {
    const community = { ...(await newCommunity()), language: language === 'de' ? 'de-AT' : language }
    await sql`update communities set language = ${community.language} where id = ${community.id}`
    const file = lines('external_id,name,opening_balance', '1,Ada,2.5')
    const options = { fileName: 'Liste.csv' }
    const dry = await load(importMembers, community, file, { ...options, dryRun: true })
    expect(dry.summary.openings).toMatchObject({ count: 1, reason: WORDS[language] })
    await load(importMembers, community, file, options)
    const notes = await sql`select note from transfer_notes where community_id = ${community.id}`
    expect(notes.map(({ note }) => note)).toEqual([WORDS[language]])
    // It is found by its row, not by its words.
    await sql`update communities set language = 'fr' where id = ${community.id}`
    const again = await load(importMembers, { ...community, language: 'fr' }, file, options)
    expect(again.summary).toMatchObject({ unchanged: 1, openings: { count: 0 } })
  })
})

describe('a new row that looks like a member who is there', () => {
  const head = 'external_id,name'

  async function townOfAnna() {
    const town = await newCommunity()
    await load(
      importMembers,
      town,
      lines(head, '0001,Anna Alt', '0002,Ben Berg', '7,Cleo', 'x-1,Dora', '9,José', '10,Jose'),
    )
    await addMember(sql, TESTER, town.id, { name: 'Emil' })
    const gone = await addMember(sql, TESTER, town.id, { name: 'Gone', external_id: '03' })
    await eraseMember(sql, TESTER, town.id, gone.id)
    return town
  }

  test('is noted in the preview, with whom it looks like, and imported all the same', async () => {
    const town = await townOfAnna()
    const file = lines(
      head,
      '1,Anna Alt',
      '2,Another',
      '3,Gone',
      '007,Cleo',
      'X-1,DORA',
      '11,emil',
      '12,JOSÉ',
      '0002,Ben Berg',
      'x-01,Frieda',
      '13,',
    )
    const notes: unknown[] = []
    const fates: unknown[] = []
    const options = {
      dryRun: true,
      onRow: (fate: unknown, details: any) => (fates.push(fate), notes.push(details.notes)),
    }
    const summary = await importMembers(sql, TESTER, town, () => [Buffer.from(file)] as never, options)
    expect(summary).toMatchObject({ added: 8, unchanged: 1, refused: 1, lookalikes: 6 })
    expect(fates).toMatchObject([
      { reason: 'Anna Alt is there with the external id 0001, which differs only by zeros at its start.' },
      { reason: 'Ben Berg is there with the external id 0002, which differs only by zeros at its start.' },
      { reason: null },
      { reason: 'Cleo is there with the external id 7, which differs only by zeros at its start.' },
      { reason: 'A member has this name already, with the external id x-1.' },
      { reason: 'A member has this name already, without an external id.' },
      { reason: 'Several members have this name already.' },
      { outcome: 'unchanged', reason: '' },
      { reason: null },
      { outcome: 'refused', reason: 'The name must have 1 to 200 characters.' },
    ])
    expect(notes.map((of) => (of as unknown[]).length)).toEqual([1, 1, 0, 1, 1, 1, 1, 0, 0, 0])
    const written = await load(importMembers, town, file, { skipBad: true })
    expect(written.summary).toMatchObject({ added: 8, written: true })
    expect(written.summary).not.toHaveProperty('lookalikes')
  })

  test('is reported on the command line and in the console', async () => {
    const town = await townOfAnna()
    const path = join(mkdtempSync(join(tmpdir(), 'office-')), 'members.csv')
    writeFileSync(path, lines(head, '1,Anna Alt', '20,Gerda'))
    const { printed } = await run(command('members import'), path, { community: town.slug, 'dry-run': true })
    expect(printed).toBe(
      'line 2: added: Anna Alt is there with the external id 0001, which differs only by zeros at its start.\n' +
        'line 3: added\n' +
        '2 would be added, 0 would be changed, 0 unchanged, 0 refused, 1 of the new ones may be there already.\n',
    )

    const bank = await startBank()
    const manager = await addAdmin(bank, 'manager')
    await addMember(bank.sql, TESTER, bank.communityId, { name: 'Anna Alt', external_id: '0001' })
    // More rows than a preview lists: the one to look at is among them.
    const rows = Array.from({ length: 1_100 }, (_, n) => `N-${n},Person ${n}`)
    const headers = { 'content-type': 'text/csv' }
    const body = lines(head, ...rows, '1,Anna Alt')
    const preview = await manager.call('/members/import?dry_run=true', { body, headers })
    expect(preview.body.data).toMatchObject({ added: 1_101, lookalikes: 1, fates_left_out: 100 })
    expect(preview.body.data.fates.at(-1)).toMatchObject({
      outcome: 'added',
      external_id: '1',
      notes: [{ code: 'number_known_without_zeros', values: { name: 'Anna Alt', external_id: '0001' } }],
    })
    expect(preview.body.data.fates[0]).toMatchObject({ outcome: 'added', reason: null, notes: [] })
  })
})
