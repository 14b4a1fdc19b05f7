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
/** So many new rows of one community change what the planner should know; autovacuum comes in its own time. */
const ANALYZE_FROM_ROWS = 1_000
const UNIQUE_VIOLATION = '23505'

export type Outcome = 'added' | 'changed' | 'unchanged' | 'refused'

export interface Fate {
  line: number
  outcome: Outcome
  /** Why it is refused, or which fields change. */
  reason: string | null
}

/** By which people recognise a row of the file, as far as it could be read. */
export interface RowName {
  external_id: string | null
  name: string | null
}

/** What a row asks for: only the fields that it has. */
export type Wish = Record<string, string | number | boolean | null>

/** What can be imported. Rows are found again by their external id. */
export interface ImportKind {
  /** One of them, in words. */
  noun: 'member' | 'listing'
  table: 'members' | 'listings'
  /** All that grow with it. */
  tables: readonly string[]
  columns: readonly string[]
  requiredColumns: readonly string[]
  /** What the fields of a row say, and all that is wrong with them. */
  read(fields: Record<string, string>, ids: StandInIds): { wish: Wish; problems: string[] }
  /**
   * Settles what can be told only by what is stored: sets `outcome`, and `reason` or `changes`, of rows in import_rows
   * that have no outcome. Where it leaves a row without, the row is added.
   */
  judge(tx: Transaction, communityId: number): Promise<void>
  /** Takes the locks of everything that changes, before anything does. */
  lock(tx: Transaction, communityId: number): Promise<void>
  /** Write what was judged `added`, or `changed`, in these lines. */
  add(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void>
  change(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void>
}

export interface Lines {
  from: number
  to: number
}

export interface ImportOptions {
  /** Tells every row's fate and writes nothing. */
  dryRun?: boolean
  /** Leaves refused rows out; otherwise one of them keeps everything from being written. */
  skipBad?: boolean
  /** Of the file, for the progress. */
  bytes?: number
  /** Told of every row in a dry run, of refused rows otherwise; in the order of the file. */
  onFate?: (fate: Fate, row: RowName) => void
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
 * Reads a file into a table of the transaction's own, judges it as a whole, and then writes it in batches, all in one
 * transaction. So memory stays flat, a dry run and an import judge alike, and locks are taken once, in one order.
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
      await makeStage(tx)
      await stage(tx, kind, standInIds(community), file, options)
      await judge(tx, community.id, kind)
      await tellFates(tx, options)
      const counts = await countOutcomes(tx)
      const isWritten = !options.dryRun && (options.skipBad || counts.refused === 0)
      if (isWritten) await write(tx, actor, community.id, kind, counts, options)
      return { ...counts, written: isWritten }
    })
    if (summary.written && summary.added >= ANALYZE_FROM_ROWS) await analyze(sql, kind)
    return summary
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error
    throw new Refusal(`Someone else added one of these ${kind.table} just now. Nothing was written; import again.`, {
      cause: error,
    })
  }
}

async function analyze(sql: Sql, { tables }: ImportKind): Promise<void> {
  for (const table of tables) await sql`analyze ${identifier(table)}`
}

async function makeStage(tx: Transaction): Promise<void> {
  // A slow upload must not run into a limit meant for requests.
  await tx`set local statement_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = 0`
  await tx`
    create temp table import_rows (
      line int8 primary key,
      external_id text,
      -- The row that a stand-in id names.
      stand_in_for int8,
      wish jsonb not null,
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
  wish: Wish
  problems: string[]
}

async function stage(
  tx: Transaction,
  kind: ImportKind,
  ids: StandInIds,
  file: AsyncIterable<Uint8Array>,
  { bytes, onProgress }: ImportOptions,
): Promise<void> {
  let bytesRead = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of file) {
      bytesRead += chunk.length
      yield chunk
    }
  }
  let header: string[] | undefined
  let batch: StagedRow[] = []
  for await (const record of readCsv(counted())) {
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
    return { line, externalId: null, standInFor: null, wish: {}, problems: [problem] }
  }
  const named = Object.fromEntries(header.map((name, n) => [name, restoreText(fields[n]!)]))
  const { wish, problems } = kind.read(named, ids)
  const externalId = named[EXTERNAL_ID]!
  if (externalId === '') problems.unshift('The external id is missing; it keeps a second import from adding twice.')
  return { line, externalId: externalId || null, standInFor: ids.idOf(externalId), wish, problems }
}

async function insertStaged(tx: Transaction, rows: StagedRow[]): Promise<void> {
  await tx`
    insert into import_rows (line, external_id, stand_in_for, wish, reason, outcome)
    select i.line, i.external_id, i.stand_in_for, i.wish::jsonb, i.reason, case when i.reason is not null then 'refused' end
    from unnest(${rows.map((row) => row.line)}::int8[], ${rows.map((row) => row.externalId)}::text[],
      ${rows.map((row) => row.standInFor)}::int8[], ${rows.map((row) => JSON.stringify(row.wish))}::text[],
      ${rows.map((row) => row.problems.join(' ') || null)}::text[]
    ) as i(line, external_id, stand_in_for, wish, reason)`
}

async function judge(tx: Transaction, communityId: number, kind: ImportKind): Promise<void> {
  // All rows at once, so tables are read through. The planner may think that a community which has just grown is tiny,
  // and look for each row in the whole of it.
  await tx`set local enable_nestloop = off`
  await refuseRepeated(tx)
  await match(tx, communityId, kind)
  await kind.judge(tx, communityId)
  await settleUnmatched(tx, kind)
  await tx`set local enable_nestloop = on`
}

/** Two rows for one thing: which one is meant, nobody knows, and the first is not better than the second. */
async function refuseRepeated(tx: Transaction): Promise<void> {
  await tx`
    update import_rows r set outcome = 'refused',
      reason = concat_ws(' ', r.reason, format('The external id is in line %s already.', d.first_line))
    from (
      select line, min(line) over (partition by external_id) as first_line from import_rows where external_id is not null
    ) d
    where d.line = r.line and d.line <> d.first_line`
}

async function match(tx: Transaction, communityId: number, { table }: ImportKind): Promise<void> {
  await tx`
    update import_rows r set id = t.id from ${identifier(table)} t
    where t.community_id = ${communityId} and t.external_id = r.external_id and r.stand_in_for is null`
  await tx`
    update import_rows r set id = t.id from ${identifier(table)} t
    where t.community_id = ${communityId} and t.id = r.stand_in_for`
}

async function settleUnmatched(tx: Transaction, { noun }: ImportKind): Promise<void> {
  await tx`
    update import_rows set outcome = 'refused', reason = ${`The external id stands for a ${noun} that is not there.`}
    where outcome is null and id is null and stand_in_for is not null`
  await tx`update import_rows set outcome = 'added' where outcome is null`
}

async function tellFates(tx: Transaction, { dryRun = false, onFate }: ImportOptions): Promise<void> {
  if (!onFate) return
  const fates = tx<(Fate & RowName)[]>`
    select line, outcome, coalesce(reason, array_to_string(changes, ', ')) as reason, external_id,
      coalesce(wish ->> 'name', wish ->> 'title') as name
    from import_rows
    where ${dryRun} or outcome = 'refused' order by line`
  for await (const rows of fates.cursor(BATCH_ROWS)) {
    for (const { external_id, name, ...fate } of rows) onFate(fate, { external_id, name })
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

async function write(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  kind: ImportKind,
  { rows: _rows, ...counts }: Counts,
  { onProgress }: ImportOptions,
): Promise<void> {
  const total = counts.added + counts.changed
  // What was judged since has changed every row.
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
