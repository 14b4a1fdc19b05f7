import { recordAudit, type Actor } from '../audit/record.ts'
import type { CommunityRow } from '../communities/queries.ts'
import { identifier, type Sql, transaction, type Transaction } from '../../postgres/connect.ts'
import type { Progress } from '../../core/progress.ts'
import { Refusal } from '../../core/refusal.ts'
import { restoreText } from '../../csv/formulas.ts'
import { BrokenCsv, readCsv, type CsvRecord } from '../../csv/read-csv.ts'
import { standInIds, type StandInIds } from '../../csv/stand-in-ids.ts'

const BATCH_ROWS = 1_000
const EXTERNAL_ID = 'external_id'
/** From this many new rows on, table statistics are refreshed immediately instead of by a later autovacuum. */
const ANALYZE_FROM_ROWS = 1_000
const UNIQUE_VIOLATION = '23505'

export type Outcome = 'added' | 'changed' | 'unchanged' | 'refused'

export interface RowOutcome {
  line: number
  outcome: Outcome
  /** Why the row is rejected, or which fields change. */
  reason: string | null
}

/** Identifies a row of the file for people, as far as it could be read. */
export interface RowName {
  external_id: string | null
  name: string | null
}

/** The parsed fields that a row contains. */
export type RowInput = Record<string, string | number | boolean | null>

/** Defines how one kind of record is imported. Rows are matched by external id. */
export interface ImportKind {
  /** The singular, for messages. */
  noun: 'member' | 'listing'
  table: 'members' | 'listings'
  /** All grownTables that an import adds rows to. */
  grownTables: readonly string[]
  columns: readonly string[]
  requiredColumns: readonly string[]
  /** Parses the fields of a row and reports every problem. */
  read(fields: Record<string, string>, ids: StandInIds): { input: RowInput; problems: string[] }
  /**
   * Validates against the stored data: sets `outcome`, and `reason` or `changes`, of rows in import_rows that have no
   * outcome yet. Rows that it leaves without an outcome are added.
   */
  validate(tx: Transaction, communityId: number): Promise<void>
  /** Locks everything that will change, before the first write. */
  lock(tx: Transaction, communityId: number): Promise<void>
  /** Write the rows with the outcome `added` or `changed` in these lines. */
  add(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void>
  change(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void>
}

export interface Lines {
  from: number
  to: number
}

export interface ImportOptions {
  /** Reports the outcome of every row and writes nothing. */
  dryRun?: boolean
  /** Skips rejected rows. Otherwise one rejected row prevents the whole import. */
  skipBad?: boolean
  /** Size of the file, for progress reports. */
  bytes?: number
  /** Called in file order: for every row of a dry run, otherwise for rejected rows. */
  onRow?: (outcome: RowOutcome, row: RowName) => void
  onProgress?: (progress: Progress) => void
}

export interface ImportSummary {
  rows: number
  added: number
  changed: number
  unchanged: number
  refused: number
  written: boolean
}

/**
 * Reads the file into a temporary table, validates it as a whole and writes it in batches, all in one transaction.
 * Memory use stays constant, a dry run validates exactly like an import, and all locks are taken at once in one order.
 */
export async function importRows(
  sql: Sql,
  actor: Actor,
  community: CommunityRow,
  kind: ImportKind,
  file: AsyncIterable<Uint8Array>,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  try {
    const summary = await transaction(sql, async (tx) => {
      await createStagingTable(tx)
      await stageRows(tx, kind, standInIds(community), file, options)
      await validateRows(tx, community.id, kind)
      await reportOutcomes(tx, options)
      const counts = await countOutcomes(tx)
      const isWritten = !options.dryRun && (options.skipBad || counts.refused === 0)
      if (isWritten) await writeRows(tx, actor, community.id, kind, counts, options)
      return { ...counts, written: isWritten }
    })
    if (summary.written && summary.added >= ANALYZE_FROM_ROWS) {
      for (const table of kind.grownTables) await sql`analyze ${identifier(table)}`
    }
    return summary
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error
    throw new Refusal(`Someone else added one of these ${kind.table} just now. Nothing was written; import again.`, {
      cause: error,
    })
  }
}

async function createStagingTable(tx: Transaction): Promise<void> {
  // An import may take longer than the timeouts for requests allow.
  await tx`set local statement_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = 0`
  await tx`
    create temp table import_rows (
      line int8 primary key,
      external_id text,
      -- The id of the record that a stand-in id refers to.
      stand_in_for int8,
      input jsonb not null,
      outcome text,
      reason text,
      changes text[],
      id int8,
      -- The member of a listing.
      parent_id int8
    ) on commit drop`
}

interface StagedRow {
  line: number
  externalId: string | null
  standInFor: number | null
  input: RowInput
  problems: string[]
}

async function stageRows(
  tx: Transaction,
  kind: ImportKind,
  ids: StandInIds,
  file: AsyncIterable<Uint8Array>,
  { bytes, onProgress }: ImportOptions,
): Promise<void> {
  let bytesRead = 0
  async function* countBytes(): AsyncGenerator<Uint8Array> {
    for await (const chunk of file) {
      bytesRead += chunk.length
      yield chunk
    }
  }
  let header: string[] | undefined
  let batch: StagedRow[] = []
  for await (const record of readCsv(countBytes())) {
    if (!header) {
      header = readHeader(kind, record)
      continue
    }
    if (record.fields.every((field) => field === '')) continue
    batch.push(readRow(kind, ids, header, record))
    if (batch.length < BATCH_ROWS) continue
    await insertStaged(tx, batch)
    batch = []
    onProgress?.({ done: bytesRead, total: bytes, label: 'reading', unit: 'bytes' })
  }
  if (!header) throw new BrokenCsv(1, 'The file is empty.')
  await insertStaged(tx, batch)
  await tx`analyze import_rows`
}

function readHeader({ columns, requiredColumns }: ImportKind, { line, fields }: CsvRecord): string[] {
  const names = fields.map((field) => field.trim().toLowerCase())
  if (names.length === 1 && names[0]!.includes(';')) {
    throw new BrokenCsv(line, 'The columns are separated by semicolons. Save the file with commas between them.')
  }
  const problems = [
    ...names.filter((name) => !columns.includes(name)).map((name) => `there is no column "${name}"`),
    ...names.filter((name, n) => names.indexOf(name) < n).map((name) => `the column "${name}" is there twice`),
    ...requiredColumns.filter((name) => !names.includes(name)).map((name) => `the column "${name}" is missing`),
  ]
  if (problems.length > 0) {
    throw new BrokenCsv(line, `The first line must name the columns, of ${columns.join(', ')}: ${problems.join('; ')}.`)
  }
  return names
}

function readRow(kind: ImportKind, ids: StandInIds, header: string[], { line, fields }: CsvRecord): StagedRow {
  if (fields.length !== header.length) {
    const problem = `The row has ${fields.length} fields, the first line ${header.length}.`
    return { line, externalId: null, standInFor: null, input: {}, problems: [problem] }
  }
  const named = Object.fromEntries(header.map((name, n) => [name, restoreText(fields[n]!)]))
  const { input, problems } = kind.read(named, ids)
  const externalId = named[EXTERNAL_ID]!
  if (externalId === '') problems.unshift('The external id is missing; it keeps a second import from adding twice.')
  return { line, externalId: externalId || null, standInFor: ids.idOf(externalId), input, problems }
}

async function insertStaged(tx: Transaction, rows: StagedRow[]): Promise<void> {
  await tx`
    insert into import_rows (line, external_id, stand_in_for, input, reason, outcome)
    select i.line, i.external_id, i.stand_in_for, i.input::jsonb, i.reason, case when i.reason is not null then 'refused' end
    from unnest(${rows.map((row) => row.line)}::int8[], ${rows.map((row) => row.externalId)}::text[],
      ${rows.map((row) => row.standInFor)}::int8[], ${rows.map((row) => JSON.stringify(row.input))}::text[],
      ${rows.map((row) => row.problems.join(' ') || null)}::text[]
    ) as i(line, external_id, stand_in_for, input, reason)`
}

async function validateRows(tx: Transaction, communityId: number, kind: ImportKind): Promise<void> {
  // All rows are matched at once, so scans are right. With stale statistics for a community that has just grown, the
  // planner would choose nested loops and scan the whole community for each row.
  await tx`set local enable_nestloop = off`
  await rejectDuplicates(tx)
  await matchRecords(tx, communityId, kind)
  await kind.validate(tx, communityId)
  await resolveUnmatched(tx, kind)
  await tx`set local enable_nestloop = on`
}

/** Rejects the later of two rows with the same external id. */
async function rejectDuplicates(tx: Transaction): Promise<void> {
  await tx`
    update import_rows r set outcome = 'refused',
      reason = concat_ws(' ', r.reason, format('The external id is in line %s already.', d.first_line))
    from (
      select line, min(line) over (partition by external_id) as first_line from import_rows where external_id is not null
    ) d
    where d.line = r.line and d.line <> d.first_line`
}

async function matchRecords(tx: Transaction, communityId: number, { table }: ImportKind): Promise<void> {
  await tx`
    update import_rows r set id = t.id from ${identifier(table)} t
    where t.community_id = ${communityId} and t.external_id = r.external_id and r.stand_in_for is null`
  await tx`
    update import_rows r set id = t.id from ${identifier(table)} t
    where t.community_id = ${communityId} and t.id = r.stand_in_for`
}

async function resolveUnmatched(tx: Transaction, { noun }: ImportKind): Promise<void> {
  await tx`
    update import_rows set outcome = 'refused', reason = ${`The external id stands for a ${noun} that is not there.`}
    where outcome is null and id is null and stand_in_for is not null`
  await tx`update import_rows set outcome = 'added' where outcome is null`
}

async function reportOutcomes(tx: Transaction, { dryRun = false, onRow }: ImportOptions): Promise<void> {
  if (!onRow) return
  const outcomes = tx<(RowOutcome & RowName)[]>`
    select line, outcome, coalesce(reason, array_to_string(changes, ', ')) as reason, external_id,
      coalesce(input ->> 'name', input ->> 'title') as name
    from import_rows
    where ${dryRun} or outcome = 'refused' order by line`
  for await (const rows of outcomes.cursor(BATCH_ROWS)) {
    for (const { external_id, name, ...outcome } of rows) onRow(outcome, { external_id, name })
  }
}

type Counts = Omit<ImportSummary, 'written'>

async function countOutcomes(tx: Transaction): Promise<Counts> {
  const [counts] = await tx<[Counts]>`
    select count(*) as rows, count(*) filter (where outcome = 'added') as added,
      count(*) filter (where outcome = 'changed') as changed,
      count(*) filter (where outcome = 'unchanged') as unchanged,
      count(*) filter (where outcome = 'refused') as refused
    from import_rows`
  return counts
}

async function writeRows(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  kind: ImportKind,
  { rows: _rows, ...counts }: Counts,
  { onProgress }: ImportOptions,
): Promise<void> {
  const total = counts.added + counts.changed
  // Validation has updated every row.
  await tx`analyze import_rows`
  await kind.lock(tx, communityId)
  let lines: Lines = { from: 0, to: 0 }
  for (let done = 0; done < total; done += BATCH_ROWS) {
    lines = await nextLines(tx, lines)
    if (counts.added > 0) await kind.add(tx, actor, communityId, lines)
    if (counts.changed > 0) await kind.change(tx, actor, communityId, lines)
    onProgress?.({ done: Math.min(done + BATCH_ROWS, total), total, label: 'writing' })
  }
  await recordAudit(tx, communityId, actor, {
    action: `${kind.table}.imported`,
    subject: { kind: 'community', id: communityId },
    detail: counts,
  })
}

async function nextLines(tx: Transaction, before: Lines): Promise<Lines> {
  const [row] = await tx<[Lines]>`
    select min(line) as from, max(line) as to from (
      select line from import_rows where line > ${before.to} and outcome in ('added', 'changed')
      order by line limit ${BATCH_ROWS}
    ) next`
  return row
}
