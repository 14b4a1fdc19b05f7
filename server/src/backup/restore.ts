import { Value } from 'typebox/value'
import { advanceCounters, advanceSequence, measureGaps } from './advance-numbers.ts'
import {
  BACKUP_FORMAT,
  BACKUP_VERSION,
  BackupHeader,
  countLines,
  EndEntry,
  SequenceEntry,
  TableEntry,
} from './backup-format.ts'
import type { BackupKey } from './backup-keys.ts'
import {
  fixSettings,
  lastValue,
  listSequences,
  listTables,
  publicName,
  disableTransactionTimeout,
} from './catalogue.ts'
import type { Progress } from '../core/progress.ts'
import { Refusal } from '../core/refusal.ts'
import { openBackup } from './open-backup.ts'
import type { Queries, Sql, Transaction } from '../postgres/connect.ts'
import { cutOff, damaged, newer, notABackup, readText, UnusableBackup, type BackupText } from './read-backup.ts'
import { applyMigrations, lockMigrations, migrationNames } from '../postgres/migrate.ts'
import { quoteName } from '../postgres/statement.ts'

/** SQLSTATE classes for data exceptions, constraint violations and unknown columns. */
const ROW_ERROR = /^(22|23|42)[0-9A-Z]{3}$/

/** A bound becomes part of a statement, and the file may come from anywhere: only literals are allowed. */
const VALUE = String.raw`(?:'[^'\\]*'|-?[0-9]+(?:\.[0-9]+)?|MINVALUE|MAXVALUE|NULL|true|false)`
/** The separator between values keeps the time to match linear: each character can be matched in one way only. */
const BOUND_VALUES = String.raw`\(${VALUE}(?:, ${VALUE})*\)`
const BOUND = new RegExp(
  String.raw`^(?:DEFAULT|FOR VALUES (?:IN ${BOUND_VALUES}|FROM ${BOUND_VALUES} TO ${BOUND_VALUES}|WITH \(modulus \d+, remainder \d+\)))$`,
)

/** A backup can only be restored into an empty database. */
export class DatabaseNotEmpty extends Refusal {}

export interface RestoreOptions {
  /** The keys that may have made the backup. */
  keys: BackupKey[]
  /** Also accepts a backup whose digest none of the keys can verify. */
  acceptUnverified?: boolean
  /** Skips tables that Hourbank's migrations do not create, instead of rejecting the backup. */
  skipUnknown?: boolean
  /** The folder of the migrations; tests use it to simulate later versions. */
  migrations?: URL
  /** Runs on the restored data before the commit, in the same transaction. */
  finish?: (tx: Transaction, backupMadeAt: string) => Promise<void>
  /** Aborts the restore and leaves the database empty. */
  signal?: AbortSignal
}

export interface RestoreSummary {
  /** When the backup was made. */
  createdAt: string
  /** Whether its digest proves that it was not changed since it was made. */
  isVerified: boolean
  rows: number
  rowsByTable: Record<string, number>
  /** Skipped tables and sequences. */
  skipped: string[]
  /** Migrations that are newer than the backup; they were applied to the restored data. */
  migrated: string[]
}

/** Restores a backup into an empty database, completely or not at all. */
export async function restore(
  sql: Sql,
  file: string,
  onProgress: (progress: Progress) => void,
  options: RestoreOptions,
): Promise<RestoreSummary> {
  const { keys, acceptUnverified = false, signal } = options
  const verifying = (done: number) => onProgress({ done, total: undefined, label: 'verifying the file', unit: 'bytes' })
  const backup = await openBackup(file, { keys, acceptUnverified, onProgress: verifying, signal })
  let done = 0
  const chunks = backup.read((bytes) => (done = bytes))
  try {
    const text = readText(file, chunks)
    const header = await readHeader(file, text)
    await rejectNewer(file, header, options)
    const report = (label: string) => onProgress({ done, total: backup.bytes, label, unit: 'bytes' })
    const { isVerified } = backup
    const context = { file, text, header, isVerified, report, options }
    const pool = signal ? sql.until(signal) : sql
    return await pool.begin('read write', (tx) => fillDatabase(tx, context))
  } finally {
    chunks.destroy()
    await backup.close()
  }
}

async function readHeader(file: string, text: BackupText): Promise<BackupHeader> {
  const value = parseJson(await text.line())
  const { format, version } = (value ?? {}) as Partial<BackupHeader>
  if (format !== BACKUP_FORMAT) throw notABackup(file)
  if (typeof version === 'number' && version > BACKUP_VERSION) throw newer(file, `format ${version}`)
  if (!Value.Check(BackupHeader, value)) throw damaged(file, 'its first line is incomplete')
  return value
}

async function rejectNewer(file: string, header: BackupHeader, options: RestoreOptions): Promise<void> {
  const known = await migrationNames(options.migrations)
  const unknown = header.migrations.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw newer(file, unknown.join(', '))
}

interface RestoreContext {
  file: string
  text: BackupText
  header: BackupHeader
  isVerified: boolean
  report: (label: string) => void
  options: RestoreOptions
}

async function fillDatabase(tx: Transaction, context: RestoreContext): Promise<RestoreSummary> {
  const directory = context.options.migrations && { directory: context.options.migrations }
  await fixSettings(tx)
  await disableTransactionTimeout(tx)
  await lockMigrations(tx)
  await requireEmpty(tx)
  await applyMigrations(tx, { only: context.header.migrations, ...directory })

  const tables = (await listTables(tx)).map(({ name }) => name)
  const triggers = await disableTriggers(tx)
  await tx.unsafe(`truncate ${tables.map(publicName).join(', ')}`)
  const { rowsByTable, sequences, skipped } = await fillTables(tx, tables, context)

  context.report('finishing')
  await enableTriggers(tx, triggers)
  const gaps = await measureGaps(tx, context.header.created_at)
  for (const [sequence, value] of sequences) await advanceSequence(tx, sequence, value, gaps)
  const hasCounters = tables.includes('id_counters')
  if (hasCounters) await advanceCounters(tx, gaps)
  const migrated = await applyMigrations(tx, { ...directory })
  // Also advance sequences and counters of later migrations: a newer version may have assigned ids before the restore.
  for (const { sequence } of await listSequences(tx)) {
    if (!sequences.has(sequence)) await advanceSequence(tx, sequence, await lastValue(tx, sequence), gaps)
  }
  if (!hasCounters) await advanceCounters(tx, gaps)
  await renewEpoch(tx)
  await endAccess(tx)
  await context.options.finish?.(tx, context.header.created_at)
  await tx.unsafe(`analyze ${(await listTables(tx)).map(({ name }) => publicName(name)).join(', ')}`)

  const rows = [...rowsByTable.values()].reduce((sum, some) => sum + some, 0)
  return {
    createdAt: context.header.created_at,
    isVerified: context.isVerified,
    rows,
    rowsByTable: Object.fromEntries(rowsByTable),
    skipped,
    migrated,
  }
}

async function requireEmpty(tx: Queries): Promise<void> {
  const [found] = await tx<{ name: string }[]>`
    select c.relname::text as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
      and not exists (
        select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by c.relname limit 1`
  if (!found) return
  throw new DatabaseNotEmpty(
    `The database is not empty: it has a table ${found.name}. A backup is restored into a new, empty database, so that ` +
      'nothing is overwritten. Nothing was changed.',
  )
}

interface FillResult {
  rowsByTable: Map<string, number>
  /** The value of each sequence in the backup, by its name in this database. */
  sequences: Map<string, string>
  skipped: string[]
}

async function fillTables(tx: Transaction, tables: string[], context: RestoreContext): Promise<FillResult> {
  const { file, text, options } = context
  const ownSequences = await listSequences(tx)
  const result: FillResult = { rowsByTable: new Map(), sequences: new Map(), skipped: [] }
  const found = new Map<string, number>()

  function skip(what: string): void {
    if (!options.skipUnknown) throw new UnusableBackup(`${file} holds ${what}, which no migration of Hourbank makes.`)
    result.skipped.push(what)
  }

  for (;;) {
    const next = await text.line()
    if (next === undefined) throw cutOff(file)
    const entry = parseJson(next)
    if (Value.Check(TableEntry, entry) && !found.has(entry.table)) {
      const isKnown = tables.includes(entry.table)
      if (!isKnown) skip(`the table ${entry.table}`)
      if (isKnown) await createPartitions(tx, entry, file)
      const rows = isKnown ? await copyRows(tx, entry, context) : await skipRows(entry, context)
      found.set(entry.table, rows)
      if (isKnown) result.rowsByTable.set(entry.table, rows)
    } else if (Value.Check(SequenceEntry, entry)) {
      const sequence = findSequence(ownSequences, entry)
      if (sequence) result.sequences.set(sequence, entry.value)
      else skip(`the sequence ${entry.sequence}`)
    } else if (Value.Check(EndEntry, entry)) {
      await checkEnd(tables, found, entry, context)
      return result
    } else {
      throw damaged(file, 'a line has no meaning')
    }
  }
}

async function checkEnd(
  tables: string[],
  found: Map<string, number>,
  end: EndEntry,
  { file, text }: RestoreContext,
): Promise<void> {
  for (const table of new Set([...tables, ...found.keys(), ...Object.keys(end.rows)])) {
    const [rows, expected] = [found.get(table), end.rows[table]]
    if (rows === undefined) throw damaged(file, `the table ${table} is missing`)
    if (rows !== expected) throw damaged(file, `it has ${rows} rows of ${table}, and should have ${expected ?? 'none'}`)
  }
  // Reads to the end of the file, where its digest is verified once more: it may have been changed in the meantime.
  if ((await text.line()) !== undefined) throw damaged(file, 'there is data after its end')
}

/** Matches by owning column, because PostgreSQL chooses the names of sequences. */
function findSequence(ownSequences: Omit<SequenceEntry, 'value'>[], entry: SequenceEntry): string | undefined {
  const candidates = ownSequences.filter(({ table, column }) => table === entry.table && column === entry.column)
  const named = candidates.find(({ sequence }) => sequence === entry.sequence)
  return (named ?? (entry.table === null ? undefined : candidates[0]))?.sequence
}

/** Recreates the partitions, so that pruning can drop them instead of deleting rows from a default partition. */
async function createPartitions(tx: Queries, { table, partitions }: TableEntry, file: string): Promise<void> {
  for (const { name, bound } of partitions) {
    if (!BOUND.test(bound)) throw damaged(file, `the partition ${name} has no bound that is known`)
    // Partitions created by migrations already exist.
    await tx.unsafe(`create table if not exists ${publicName(name)} partition of ${publicName(table)} ${bound}`)
  }
}

async function copyRows(tx: Transaction, { table, columns }: TableEntry, context: RestoreContext): Promise<number> {
  let rows = 0
  async function* countRows(): AsyncGenerator<Buffer> {
    for await (const chunk of context.text.rows()) {
      rows += countLines(chunk)
      yield chunk
      context.report(table)
    }
  }
  try {
    await tx.copyIn(`copy ${publicName(table)} (${columns.map(quoteName).join(', ')}) from stdin`, countRows())
  } catch (error) {
    throw toDamage(error, table, context.file)
  }
  return rows
}

/** Explains a row or column error without its data: PostgreSQL's message may quote a value, and its context the row. */
function toDamage(error: unknown, table: string, file: string): unknown {
  const { code, message, where } = error as { code?: string; message: string; where?: string }
  if (!ROW_ERROR.test(code ?? '')) return error
  const reason = message.replace(/: ".*/s, '')
  const at = /\bline \d+(, column \w+)?/.exec(where ?? '')?.[0]
  return damaged(file, `the table ${table} does not fit: ${reason}${at ? ` (${at})` : ''}`, error)
}

async function skipRows({ table }: TableEntry, { text, report }: RestoreContext): Promise<number> {
  let rows = 0
  for await (const chunk of text.rows()) {
    rows += countLines(chunk)
    report(table)
  }
  return rows
}

interface Trigger {
  table: string
  name: string
  enabled: 'O' | 'R' | 'A'
}

const ENABLE = { O: 'enable', R: 'enable replica', A: 'enable always' }

/** The backup already contains the effects of triggers, so they must not run again. */
async function disableTriggers(tx: Queries): Promise<Trigger[]> {
  const triggers = await tx<Trigger[]>`
    select c.relname::text as table, t.tgname::text as name, t.tgenabled::text as enabled
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and t.tgparentid = 0 and t.tgenabled <> 'D' and c.relnamespace = 'public'::regnamespace
      and c.relkind in ('r', 'p')`
  for (const { table, name } of triggers) {
    await tx.unsafe(`alter table ${publicName(table)} disable trigger ${quoteName(name)}`)
  }
  return triggers
}

async function enableTriggers(tx: Queries, triggers: Trigger[]): Promise<void> {
  // A table with pending deferred constraints cannot be altered.
  await tx`set constraints all immediate`
  for (const { table, name, enabled } of triggers) {
    await tx.unsafe(`alter table ${publicName(table)} ${ENABLE[enabled]} trigger ${quoteName(name)}`)
  }
}

/** Lets the API detect cursors from before the restore. */
async function renewEpoch(tx: Queries): Promise<void> {
  await tx`insert into installation default values on conflict (single) do update set epoch = gen_random_uuid()`
}

/** Whatever was revoked or used up after the backup must not become valid again; all of it can be obtained again. */
async function endAccess(tx: Queries): Promise<void> {
  await tx`delete from tokens`
  await tx`delete from admin_sessions`
  await tx`delete from admin_links`
  await tx`delete from admin_invitations`
  await tx`delete from admin_browsers`
  await tx`update admins set one_time_until = least(one_time_until, now()) where password_one_time`
  await tx`delete from admin_second_steps`
  await tx`delete from admin_recovery_codes`
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
