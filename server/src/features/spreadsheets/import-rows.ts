import { randomUUID } from 'node:crypto'
import { recordAudit, type Actor } from '../audit/record.ts'
import type { CommunityRow } from '../communities/queries.ts'
import { transaction, type Sql, type Transaction } from '../../postgres/connect.ts'
import { allowNestedLoops, discardPlans, liftTimeouts } from '../../postgres/transaction-settings.ts'
import type { Progress } from '../../core/progress.ts'
import { because, sentenceOf, type Reason } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { createCalendar, type Calendar } from '../../core/times.ts'
import { detectFormat, type DetectedFile, type OpenFile } from '../../csv/detect-format.ts'
import type { FileFormat } from '../../csv/file-format.ts'
import { readCsv, type CsvRecord } from '../../csv/read-csv.ts'
import { standInIds, type StandInIds } from '../../csv/stand-in-ids.ts'
import { createWidthCheck, isBlank } from './check-row-width.ts'
import { chooseLayout, headerKey, nameCells, requireHeader, type ImportColumns } from './layout.ts'
import { saveLayout, type Layout } from './layout-queries.ts'
import {
  analyzeTable,
  countNoted,
  countOutcomes,
  createStagingTable,
  insertStaged,
  matchRecords,
  nextLines,
  readOutcomes,
  rejectDuplicates,
  resolveUnmatched,
  type Lines,
  type OutcomeCounts,
  type RowInput,
  type RowDetails,
  type RowOutcome,
  type StagedRow,
} from './queries.ts'
import { shortenCell, SHOWN_LENGTH_MAX } from './shorten-cell.ts'

export type { Outcome, RowOutcome } from './queries.ts'

const BATCH_ROWS = 1_000
/** Of the cells of a batch. One row may exceed it, and has at most 1 MiB itself. */
const BATCH_LENGTH_MAX = 1024 * 1024
const EXTERNAL_ID = 'external_id'
/** By which a row is recognized, beside the external id. */
const SHOWN_FIELDS = new Set(['name', 'title'])
const OPENING_BALANCE = 'opening_balance'
/** From this many new rows on, table statistics are refreshed immediately instead of by a later autovacuum. */
const ANALYZE_FROM_ROWS = 1_000
const UNIQUE_VIOLATION = '23505'

/** What a row is read with. */
export interface RowContext extends Pick<Layout, 'decimal' | 'dates'> {
  ids: StandInIds
  calendar: Calendar
}

/** Defines how one kind of record is imported. Rows are matched by external id. */
export interface ImportKind extends ImportColumns {
  /** The singular, for messages. */
  noun: 'member' | 'listing'
  /** All tables that an import adds rows to. */
  grownTables: readonly string[]
  /** Parses the fields of a row and reports every problem. */
  read(fields: Record<string, string>, context: RowContext): { input: RowInput; problems: Reason[] }
  /**
   * Validates against the stored data: sets `outcome`, and `reasons` or `changes`, of rows in import_rows that have no
   * outcome yet. Rows that it leaves without an outcome are added.
   */
  validate(tx: Transaction, communityId: number): Promise<void>
  /** Locks everything that will change, before the first write. */
  lock(tx: Transaction, communityId: number): Promise<void>
  /** Write the rows with the outcome `added` or `changed` in these lines. */
  add(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void>
  change(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void>
  /** Notes what a person should look at in rows that are added. */
  noteLookalikes?(tx: Transaction, communityId: number): Promise<void>
  sumOpenings?(tx: Transaction, community: CommunityRow, fileName?: string): Promise<OpeningSum>
  /** Writes what follows from the rows in these lines, after they are added or changed. */
  finish?(tx: Transaction, actor: Actor, community: CommunityRow, lines: Lines, fileName?: string): Promise<void>
}

export interface ImportOptions {
  /** Reports the outcome of every row and writes nothing. */
  dryRun?: boolean
  /** Skips rejected rows. Otherwise one rejected row prevents the whole import. */
  skipBad?: boolean
  /** An empty cell clears the value. Otherwise it keeps what is there. */
  clearEmpty?: boolean
  /** How the file is written. What is left out is found out. */
  format?: Partial<FileFormat>
  /** How its cells are read. A given mapping of the columns is remembered for files with the same first row. */
  layout?: Partial<Layout>
  /** For the reason of opening balances. */
  fileName?: string
  /** Size of the file, for progress reports. */
  bytes?: number
  /** Of the rows that are not empty. More are rejected. */
  rowsMax?: number
  /** Called in file order: for every row of a dry run, otherwise for rejected rows. */
  onRow?: (outcome: RowOutcome, details: RowDetails) => void
  onProgress?: (progress: Progress) => void
}

/** What the opening balances of a file add up to. */
export interface OpeningSum {
  count: number
  centihours: number
  /** Of each of them. */
  reason: string
}

export type ImportSummary = OutcomeCounts & {
  written: boolean
  /** Of a dry run, if there are any: the new rows that look like a record which is there. */
  lookalikes?: number
  /** If the file has a column for them. */
  openings?: OpeningSum
}

export function createImport(kind: ImportKind) {
  return (sql: Sql, actor: Actor, community: CommunityRow, open: OpenFile, options?: ImportOptions) =>
    importRows(sql, actor, community, kind, open, options)
}

/**
 * Reads the file into a temporary table, validates it as a whole and writes it in batches, all in one transaction.
 * Memory use stays constant, a dry run validates exactly like an import, and all locks are taken at once in one order.
 */
async function importRows(
  sql: Sql,
  actor: Actor,
  community: CommunityRow,
  kind: ImportKind,
  open: OpenFile,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const detected = await detectFormat(open, options.format)
  try {
    const summary = await transaction(sql, async (tx) => {
      await liftTimeouts(tx)
      await createStagingTable(tx)
      const layout = await chooseLayout(tx, community.id, kind, detected, options.layout ?? {})
      const width = requireHeader(detected).fields.length
      const context = { ...layout, ids: standInIds(community), calendar: createCalendar(community.time_zone) }
      const reader = createRowReader(kind, context, width, options)
      await stageRows(tx, reader, open, detected, options)
      await validateRows(tx, community.id, kind, options)
      await reportOutcomes(tx, options)
      const counts = await countOutcomes(tx)
      const isWritten = !options.dryRun && (options.skipBad || counts.refused === 0)
      if (isWritten) await writeRows(tx, actor, community, kind, counts, options)
      if (options.layout?.columns) {
        await saveLayout(tx, community.id, kind.table, headerKey(requireHeader(detected).fields), layout)
      }
      const openings = layout.columns[OPENING_BALANCE] && (await kind.sumOpenings?.(tx, community, options.fileName))
      const lookalikes = await countNoted(tx)
      return { ...counts, written: isWritten, ...(lookalikes > 0 && { lookalikes }), ...(openings && { openings }) }
    })
    if (summary.written && summary.added >= ANALYZE_FROM_ROWS) {
      for (const table of kind.grownTables) await analyzeTable(sql, table)
    }
    return summary
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error
    throw new Refusal(because(`${kind.table}_concurrent`), { cause: error })
  }
}

async function stageRows(
  tx: Transaction,
  readRow: (record: CsvRecord) => StagedRow,
  open: OpenFile,
  format: DetectedFile,
  { bytes, rowsMax = Infinity, onProgress }: ImportOptions,
): Promise<void> {
  let bytesRead = 0
  async function* countBytes(): AsyncGenerator<Uint8Array> {
    for await (const chunk of open()) {
      bytesRead += chunk.length
      yield chunk
    }
  }
  let isHeader = true
  let rows = 0
  let batch: StagedRow[] = []
  let batchLength = 0
  for await (const record of readCsv(countBytes(), format)) {
    if (isHeader) {
      isHeader = false
      continue
    }
    if (record.fields.every(isBlank)) continue
    if (++rows > rowsMax) throw new Refusal(because('field_many', { limit: rowsMax }), { field: 'file' })
    batch.push(readRow(record))
    batchLength += record.fields.reduce((length, field) => length + field.length, 0)
    if (batch.length < BATCH_ROWS && batchLength < BATCH_LENGTH_MAX) continue
    await insertStaged(tx, batch)
    batch = []
    batchLength = 0
    onProgress?.({ done: bytesRead, total: bytes, label: 'reading', unit: 'bytes' })
  }
  await insertStaged(tx, batch)
  await analyzeTable(tx, 'import_rows')
}

function createRowReader(
  kind: ImportKind,
  { columns, ...context }: Layout & RowContext,
  width: number,
  { clearEmpty = false }: ImportOptions,
) {
  const { ids } = context
  const isRead = (column: string, text: string) => clearEmpty || text !== '' || kind.requiredColumns.includes(column)
  const findWidthProblem = createWidthCheck(kind, columns, width, clearEmpty)
  return ({ line, fields }: CsvRecord): StagedRow => {
    const problem = findWidthProblem(fields)
    if (problem) return { line, externalId: null, standInFor: null, input: {}, problems: [problem] }
    const named = nameCells(kind, columns, fields)
    const read = Object.fromEntries(Object.entries(named).filter(([column, text]) => isRead(column, text)))
    const { input, problems } = kind.read(read, context)
    const externalId = named[EXTERNAL_ID]!
    if (externalId === '') problems.unshift(because('external_id_missing'))
    return keepShown({ line, externalId: externalId || null, standInFor: ids.idOf(externalId), input, problems })
  }
}

/** A rejected row is only shown. Its cells may be longer than what any field takes. */
function keepShown(row: StagedRow): StagedRow {
  if (row.problems.length === 0) return row
  const texts = Object.entries(row.input).filter(([name, value]) => SHOWN_FIELDS.has(name) && value !== null)
  const isTooLong = row.externalId !== null && row.externalId.length > SHOWN_LENGTH_MAX
  return {
    ...row,
    // Shortened, two of them could be the same.
    externalId: isTooLong ? null : row.externalId,
    input: Object.fromEntries(texts.map(([name, value]) => [name, shortenCell(String(value))])),
  }
}

async function validateRows(
  tx: Transaction,
  communityId: number,
  kind: ImportKind,
  { dryRun = false }: ImportOptions,
): Promise<void> {
  // All rows are matched at once, so scans are right. With stale statistics for a community that has just grown, the
  // planner would choose nested loops and scan the whole community for each row.
  await allowNestedLoops(tx, false)
  await matchRecords(tx, communityId, kind.table)
  await rejectDuplicates(tx)
  await kind.validate(tx, communityId)
  await resolveUnmatched(tx, kind.noun)
  if (dryRun) await kind.noteLookalikes?.(tx, communityId)
  await allowNestedLoops(tx, true)
}

async function reportOutcomes(tx: Transaction, { dryRun = false, onRow }: ImportOptions): Promise<void> {
  if (!onRow) return
  for await (const rows of readOutcomes(tx, dryRun, BATCH_ROWS)) {
    for (const { line, outcome, changes, ...details } of rows) {
      const sentences = [...details.reasons, ...details.notes].map(({ code, values }) => sentenceOf(code, values))
      onRow({ line, outcome, reason: sentences.join(' ') || changes }, details)
    }
  }
}

async function writeRows(
  tx: Transaction,
  actor: Actor,
  community: CommunityRow,
  kind: ImportKind,
  { rows: _rows, ...counts }: OutcomeCounts,
  { onProgress, fileName }: ImportOptions,
): Promise<void> {
  const communityId = community.id
  const total = counts.added + counts.changed
  const batch = randomUUID()
  const worker = { ...actor, batch }
  // Validation has updated every row.
  await analyzeTable(tx, 'import_rows')
  await kind.lock(tx, communityId)
  let lines: Lines = { from: 0, to: 0 }
  for (let done = 0; done < total; done += BATCH_ROWS) {
    lines = await nextLines(tx, lines, BATCH_ROWS)
    if (counts.added > 0) await kind.add(tx, worker, communityId, lines)
    if (counts.changed > 0) await kind.change(tx, worker, communityId, lines)
    await kind.finish?.(tx, worker, community, lines, fileName)
    if (done === 0 && total > BATCH_ROWS) await discardPlans(tx)
    onProgress?.({ done: Math.min(done + BATCH_ROWS, total), total, label: 'writing' })
  }
  await recordAudit(tx, communityId, actor, {
    action: `${kind.table}.imported`,
    subject: { kind: 'community', id: communityId },
    detail: { ...counts, batch },
  })
}
