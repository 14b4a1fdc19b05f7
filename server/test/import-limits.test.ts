import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Progress } from '../src/core/progress.ts'
import { importListings } from '../src/features/listings/import-listings.ts'
import { importMembers } from '../src/features/members/import-members.ts'
import { headerKey } from '../src/features/spreadsheets/layout.ts'
import { saveLayout } from '../src/features/spreadsheets/layout-queries.ts'
import type { ImportOptions } from '../src/features/spreadsheets/import-rows.ts'
import type { RowDetails } from '../src/features/spreadsheets/queries.ts'
import { TESTER } from './bank.ts'
import { lines, load, newCommunity, sql } from './csv-communities.ts'

/** As long as a cell of a file may be. */
const LONG_CELL = 'x'.repeat(99_000)

async function preview(importFile: typeof importMembers, text: string, options: ImportOptions = {}) {
  const rows: RowDetails[] = []
  const reports: Progress[] = []
  const open = async function* () {
    yield Buffer.from(text)
  }
  await importFile(sql, TESTER, await newCommunity(), open, {
    ...options,
    dryRun: true,
    onRow: (_outcome, row) => void rows.push(row),
    onProgress: (progress) => void reports.push(progress),
  })
  return { rows, reports }
}

describe('a column of the file that is named twice for one field', () => {
  test.each([
    [importMembers, { external_id: [0], name: [1, 1] }, 'name'],
    [importMembers, { external_id: [0, 1, 0], name: [1] }, 'external_id'],
    [
      importListings,
      { external_id: [0], member_external_id: [0], type: [1], title: [1], category: [1], description: [1, 1] },
      'description',
    ],
  ])('is rejected: %#', async (importFile, columns, field) => {
    const file = lines('Nr;Text', '1;Ada')
    const rejected = load(importFile, await newCommunity(), file, { layout: { columns } })
    await expect(rejected).rejects.toThrow(`Say which column of the file holds "${field}".`)
  })

  test('is not taken from a mapping that was remembered before that was rejected', async () => {
    const community = await newCommunity()
    const columns = { external_id: [0], name: [1, 1] }
    const layout = { columns, decimal: 'comma', dates: 'day_first' } as const
    await saveLayout(sql, community.id, 'members', headerKey(['Nr', 'Text']), layout)
    await expect(load(importMembers, community, lines('Nr;Text', '1;Ada'))).rejects.toThrow('no column "nr"')
  })

  test('may hold several fields', async () => {
    const columns = { external_id: [0], name: [1], notes: [1] }
    const { summary } = await load(importMembers, await newCommunity(), lines('Nr;Text', '1;Ada'), {
      layout: { columns },
    })
    expect(summary).toMatchObject({ added: 1, written: true })
  })
})

test('rows of long cells are stored in smaller batches than others', async () => {
  const fullBatches = await Promise.all(
    ['Ada', LONG_CELL].map(async (cell) => {
      const rows = Array.from({ length: 24 }, (_, n) => `${n},${cell}`)
      const { reports } = await preview(importMembers, lines('external_id,name', ...rows))
      return reports.filter(({ label }) => label === 'reading').length
    }),
  )
  expect(fullBatches).toEqual([0, 2])
})

test('of a rejected row, no more is kept than what people recognize it by', async () => {
  const members = lines('external_id,name,notes', `1,${LONG_CELL},${LONG_CELL}`, `${LONG_CELL},Eva,`)
  const { rows: refused } = await preview(importMembers, members)
  expect(refused).toMatchObject([
    { external_id: '1', name: `${'x'.repeat(200)}…`, reasons: [{ code: 'name_length' }, { code: 'notes_too_long' }] },
    { external_id: null, name: 'Eva', reasons: [{ code: 'external_id_length' }] },
  ])

  const listings = lines('external_id,member_external_id,type,title,category', `1,${LONG_CELL},service,Bread,Kitchen`)
  const { rows: offers } = await preview(importListings, listings)
  const reasons = [{ code: 'no_member_external_id', values: { external_id: `${'x'.repeat(200)}…` } }]
  expect(offers).toMatchObject([{ external_id: '1', name: 'Bread', reasons }])
})

test('a cell that is longer than its field is not taken apart to count its characters', async () => {
  const taken = vi.spyOn(String.prototype, Symbol.iterator)
  onTestFinished(() => taken.mockRestore())
  const { rows } = await preview(importMembers, lines('external_id,name,notes', `1,${LONG_CELL},${LONG_CELL}`))
  expect(rows).toHaveLength(1)
  expect(taken.mock.contexts.filter((text) => String(text).length > 50_000)).toEqual([])
})

test('a file with more rows than are taken is rejected, and empty rows do not count', async () => {
  const file = lines('external_id,name', '1,Ada', ',', '', '2,Eva')
  expect((await preview(importMembers, file, { rowsMax: 2 })).rows).toHaveLength(2)
  await expect(preview(importMembers, file, { rowsMax: 1 })).rejects.toThrow('at most 1')
})
