import { createHash } from 'node:crypto'
import { BrokenCsv } from '../../csv/broken-csv.ts'
import type { DetectedFile } from '../../csv/detect-format.ts'
import { restoreText } from '../../csv/formulas.ts'
import type { CsvRecord } from '../../csv/read-csv.ts'
import { because, type Reason } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Queries } from '../../postgres/connect.ts'
import { findLayout, type ColumnMap, type ImportTable, type Layout } from './layout-queries.ts'

/** The part of an import kind that says which columns there are. */
export interface ImportColumns {
  table: ImportTable
  columns: readonly string[]
  requiredColumns: readonly string[]
  /** Columns of an export that an import leaves aside. */
  ignoredColumns?: readonly string[]
  /** Columns whose cells keep outer spaces, as their field in the console does. */
  verbatimColumns?: readonly string[]
  /** Headers that people use: each entry is a group that makes up the column together. */
  aliases: Record<string, readonly (readonly string[])[]>
}

/** The first row identifies the layout of a file: the next import of the same table uses it again. */
export function headerKey(header: string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(header)).digest()
}

export function requireHeader({ sample }: DetectedFile): CsvRecord {
  const [header] = sample
  if (!header) throw new BrokenCsv(1, because('file_empty'))
  return header
}

/** What the caller says counts most, then what was remembered, then the names in the first row. */
export async function chooseLayout(
  sql: Queries,
  communityId: number,
  kind: ImportColumns,
  detected: DetectedFile,
  given: Partial<Layout>,
): Promise<Layout> {
  const header = requireHeader(detected)
  const remembered = await findRemembered(sql, communityId, kind, header.fields)
  if (given.columns) checkColumns(kind, header.fields, given.columns)
  return {
    columns: given.columns ?? remembered?.columns ?? matchNames(kind, header),
    decimal: given.decimal ?? remembered?.decimal ?? detected.decimal,
    dates: given.dates ?? remembered?.dates ?? 'day_first',
  }
}

/** Undefined also if it was remembered by a version with other columns. */
export async function findRemembered(
  sql: Queries,
  communityId: number,
  kind: ImportColumns,
  header: string[],
): Promise<Layout | undefined> {
  const layout = await findLayout(sql, communityId, kind.table, headerKey(header))
  const isUsable = layout && findMappingProblems(kind, header, layout.columns).length === 0
  return isUsable ? layout : undefined
}

function checkColumns(kind: ImportColumns, header: string[], columns: ColumnMap): void {
  const problems = findMappingProblems(kind, header, columns)
  if (problems.length > 0) throw new Refusal(problems.map((reason) => ({ field: 'columns', reason })))
}

function findMappingProblems(kind: ImportColumns, header: string[], columns: ColumnMap): Reason[] {
  const unknown = Object.keys(columns).filter((name) => !kind.columns.includes(name))
  const missing = kind.requiredColumns.filter((name) => !columns[name])
  // A cell that is joined with itself is a mistake, and hundreds of times it fills the memory.
  const repeated = Object.keys(columns).filter((name) => new Set(columns[name]).size < columns[name]!.length)
  const isOutside = Object.values(columns).some((positions) => positions.some((position) => position >= header.length))
  return [
    ...unknown.map((column) => because('column_unknown', { column })),
    ...[...missing, ...repeated].map((column) => because('column_unmapped', { column })),
    ...(isOutside ? [because('columns_outside', { count: header.length })] : []),
  ]
}

const plainNames = (header: string[]) => header.map((field) => field.trim().toLowerCase())

/** For files whose first row has exactly the names of the columns, in any order. */
export function matchNames(kind: ImportColumns, { line, fields }: CsvRecord): ColumnMap {
  const { columns, requiredColumns, ignoredColumns = [] } = kind
  const names = plainNames(fields)
  const problems = [
    ...names
      .filter((name) => !columns.includes(name) && !ignoredColumns.includes(name))
      .map((name) => `there is no column "${name}"`),
    ...names.filter((name, n) => names.indexOf(name) < n).map((name) => `the column "${name}" is there twice`),
    ...requiredColumns.filter((name) => !names.includes(name)).map((name) => `the column "${name}" is missing`),
  ]
  if (problems.length > 0) {
    // For the command line. The console asks which column is which instead.
    const message =
      `The first line must name the columns, of ${columns.join(', ')}: ${problems.join('; ')}. ` +
      'In the console you can say which column is which; it is remembered for the next file.'
    throw new BrokenCsv(line, { ...because('file_header', { columns: columns.join(', ') }), message })
  }
  return Object.fromEntries(names.flatMap((name, n) => (columns.includes(name) ? [[name, [n]]] : [])))
}

/** Whether the first row needs no explanation. */
export function hasOwnNames(kind: ImportColumns, header: CsvRecord): boolean {
  try {
    matchNames(kind, header)
    return true
  } catch {
    return false
  }
}

/** A proposal for a person to check: columns whose headers are usual for them. */
export function proposeColumns({ columns, aliases }: ImportColumns, header: string[]): ColumnMap {
  const names = header.map(simplify)
  return Object.fromEntries(
    columns.flatMap((column) => {
      const groups = [[simplify(column)], ...(aliases[column] ?? [])]
      const positions = groups.map((group) => group.map((word) => names.indexOf(word)))
      const found = positions.find((group) => group.every((position) => position >= 0))
      return found ? [[column, found]] : []
    }),
  )
}

function simplify(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/**
 * The cells of a row by column; missing ones are empty. Outer spaces are invisible in a spreadsheet, and "17 " must not be
 * another member.
 */
export function nameCells(
  { verbatimColumns = [] }: ImportColumns,
  columns: ColumnMap,
  cells: string[],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, positions]) => {
      const texts = positions.map((position) => restoreText(cells[position] ?? ''))
      if (texts.length === 1 && verbatimColumns.includes(name)) return [name, texts[0]!]
      return [
        name,
        texts
          .map((text) => text.trim())
          .filter(Boolean)
          .join(' '),
      ]
    }),
  )
}

/** `external_id:0,name:1,name:2`, as requests and responses carry it. */
export function formatColumns(columns: ColumnMap): string {
  return Object.entries(columns)
    .flatMap(([name, positions]) => positions.map((position) => `${name}:${position}`))
    .join(',')
}

/** The form is checked by the schema. */
export function parseColumns(text: string): ColumnMap {
  // Without a prototype: the caller chooses the names, and `constructor` is none of them either.
  const map = Object.create(null) as ColumnMap
  for (const pair of text.split(',')) {
    const [name, position] = pair.split(':') as [string, string]
    ;(map[name] ??= []).push(Number(position))
  }
  return map
}
