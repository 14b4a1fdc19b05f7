import type { Reason, ReasonCode } from '../../core/reasons.ts'
import type { ImportTable } from './layout-queries.ts'
import { identifier, type Fragment, type Queries, type Transaction } from '../../postgres/connect.ts'

/** The parsed fields that a row contains. */
export type RowInput = Record<string, string | number | boolean | null>

export interface StagedRow {
  line: number
  externalId: string | null
  standInFor: number | null
  input: RowInput
  problems: Reason[]
}

export interface Lines {
  from: number
  to: number
}

export type Outcome = 'added' | 'changed' | 'unchanged' | 'refused'
export type OutcomeCounts = Record<Outcome | 'rows', number>

export interface RowOutcome {
  line: number
  outcome: Outcome
  /** Why the row is rejected, what to look at in it, or which fields change. */
  reason: string | null
}

/** What the console shows beside it. */
export interface RowDetails {
  /** Why the row is rejected. */
  reasons: Pick<Reason, 'code' | 'values'>[]
  /** What a person should look at in a row that is not rejected. */
  notes: Pick<Reason, 'code' | 'values'>[]
  /** These identify the row for people, as far as it could be read. */
  external_id: string | null
  name: string | null
}

export async function createStagingTable(tx: Transaction): Promise<void> {
  await tx`
    create temp table import_rows (
      line int8 primary key,
      external_id text,
      -- The id of the record that a stand-in id refers to.
      stand_in_for int8,
      input jsonb not null,
      outcome text,
      -- A reason has a code and values, and so has a note.
      reasons jsonb,
      notes jsonb,
      changes text[],
      id int8,
      -- The member of a listing.
      parent_id int8
    ) on commit drop`
}

export async function insertStaged(tx: Transaction, rows: StagedRow[]): Promise<void> {
  await tx`
    insert into import_rows (line, external_id, stand_in_for, input, reasons, outcome)
    select i.line, i.external_id, i.stand_in_for, i.input::jsonb, i.reasons::jsonb,
      case when i.reasons is not null then 'refused' end
    from unnest(${rows.map((row) => row.line)}::int8[], ${rows.map((row) => row.externalId)}::text[],
      ${rows.map((row) => row.standInFor)}::int8[], ${rows.map((row) => JSON.stringify(row.input))}::text[],
      ${rows.map(({ problems }) => (problems.length === 0 ? null : JSON.stringify(problems.map(withoutText))))}::text[]
    ) as i(line, external_id, stand_in_for, input, reasons)`
}

const withoutText = ({ code, values }: Reason) => ({ code, values })

/** The value of `reasons` for a reason that the database finds; `values` are the arguments of jsonb_build_object. */
export function reasonFound(tx: Transaction, code: ReasonCode, values: Fragment = tx``): Fragment {
  return tx`jsonb_build_array(jsonb_build_object('code', ${code}::text, 'values', jsonb_build_object(${values})))`
}

export async function analyzeTable(sql: Queries, table: string): Promise<void> {
  await sql`analyze ${identifier(table)}`
}

/** Rejects the later of two rows with the same external id or the same record, which may have a stand-in id too. */
export async function rejectDuplicates(tx: Transaction): Promise<void> {
  await tx`
    update import_rows r set outcome = 'refused',
      reasons = coalesce(r.reasons, '[]') || ${reasonFound(tx, 'external_id_repeated', tx`'line', d.first_line`)}
    from (
      select line, min(line) over (partition by id, case when id is null then external_id end) as first_line
      from import_rows where external_id is not null
    ) d
    where d.line = r.line and d.line <> d.first_line`
}

/** All that JavaScript's `trim` removes and an external id may contain. */
const SPACES =
  ' \u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF'

/** The records whose external id has outer spaces, by the id without them: imports used to keep them. */
export function spacedIds(tx: Transaction, communityId: number, table: ImportTable): Fragment {
  return tx`
    select btrim(external_id, ${SPACES}) as external_id, min(id) as id from ${identifier(table)}
    where community_id = ${communityId} and external_id <> btrim(external_id, ${SPACES}) group by 1`
}

export async function matchRecords(tx: Transaction, communityId: number, table: ImportTable): Promise<void> {
  await tx`
    update import_rows r set id = t.id from ${identifier(table)} t
    where t.community_id = ${communityId} and t.external_id = r.external_id and r.stand_in_for is null`
  await tx`
    update import_rows r set id = t.id from (${spacedIds(tx, communityId, table)}) t
    where t.external_id = r.external_id and r.id is null and r.stand_in_for is null`
  await tx`
    update import_rows r set id = t.id from ${identifier(table)} t
    where t.community_id = ${communityId} and t.id = r.stand_in_for`
}

/** `fields` has an expression for each field: its name if the row `i` changes the record `t`, otherwise null. */
export async function detectChanges(
  tx: Transaction,
  communityId: number,
  table: ImportTable,
  fields: Fragment,
): Promise<void> {
  await tx`
    with j as materialized (
      select i.line, array_remove(array[${fields}], null) as changes
      from import_rows i join ${identifier(table)} t on t.community_id = ${communityId} and t.id = i.id
      where i.outcome is null
    )
    update import_rows r set changes = j.changes,
      outcome = case when j.changes = '{}' then 'unchanged' else 'changed' end
    from j
    where j.line = r.line`
}

/** Whether the row `i` says another time than the record `t` has. If it says only a day, every time on it is the same. */
export function isOtherTime(tx: Transaction, communityId: number, column: 'joined_at' | 'created_at'): Fragment {
  const time = tx`t.${identifier(column)}`
  const zone = tx`(select time_zone from communities where id = ${communityId})`
  return tx`
    ((i.input ->> ${column}::text)::timestamptz <> ${time}
    and (i.input ->> ${`${column}_day`}::text)::date is distinct from (${time} at time zone ${zone})::date)`
}

export async function resolveUnmatched(tx: Transaction, noun: 'member' | 'listing'): Promise<void> {
  await tx`
    update import_rows set outcome = 'refused', reasons = ${reasonFound(tx, `stand_in_${noun}`)}
    where outcome is null and id is null and stand_in_for is not null`
  await tx`update import_rows set outcome = 'added' where outcome is null`
}

/** Reads the rejected rows, or all of them, in file order. */
export function readOutcomes(tx: Transaction, all: boolean, batchRows: number) {
  return tx<(Omit<RowOutcome, 'reason'> & RowDetails & { changes: string | null })[]>`
    select line, outcome, coalesce(reasons, '[]') as reasons, coalesce(notes, '[]') as notes,
      array_to_string(changes, ', ') as changes, external_id, coalesce(input ->> 'name', input ->> 'title') as name
    from import_rows
    where ${all} or outcome = 'refused' order by line`.cursor(batchRows)
}

export async function countOutcomes(tx: Transaction): Promise<OutcomeCounts> {
  const [counts] = await tx<[OutcomeCounts]>`
    select count(*) as rows, count(*) filter (where outcome = 'added') as added,
      count(*) filter (where outcome = 'changed') as changed,
      count(*) filter (where outcome = 'unchanged') as unchanged,
      count(*) filter (where outcome = 'refused') as refused
    from import_rows`
  return counts
}

export async function countNoted(tx: Transaction): Promise<number> {
  const [{ count }] = await tx<[{ count: number }]>`select count(*) from import_rows where notes is not null`
  return count
}

/** Finds the lines of the next batch of rows to write. */
export async function nextLines(tx: Transaction, before: Lines, batchRows: number): Promise<Lines> {
  const [row] = await tx<[Lines]>`
    select min(line) as from, max(line) as to from (
      select line from import_rows where line > ${before.to} and outcome in ('added', 'changed')
      order by line limit ${batchRows}
    ) next`
  return row
}
