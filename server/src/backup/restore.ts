import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Value } from 'typebox/value'
import {
  BACKUP_FORMAT,
  BACKUP_VERSION,
  BackupHeader,
  countLines,
  EndEntry,
  SequenceEntry,
  TableEntry,
} from './backup-format.ts'
import { fixSettings, lastValue, listSequences, listTables, publicName, withoutTimeLimit } from './catalogue.ts'
import type { Progress } from '../core/progress.ts'
import { Refusal } from '../core/refusal.ts'
import { begin, type Queries, type Sql, type Transaction } from '../postgres/connect.ts'
import {
  cutOff,
  damaged,
  newer,
  notABackup,
  readText,
  unreadable,
  UnusableBackup,
  type BackupText,
} from './read-backup.ts'
import { applyMigrations, lockMigrations, migrationNames } from '../postgres/migrate.ts'
import { quoteName } from '../postgres/statement.ts'

/**
 * Ids handed out after the backup was made may live on elsewhere, in partners' books and in delivered events. So that
 * none names something else one day, every sequence goes on this far behind where the backup left it.
 */
export const SEQUENCE_GAP = 1_000_000

const CHUNK_BYTES = 64 * 1024

/** SQLSTATE classes of errors in data, of violated constraints and of unknown columns. */
const MISFIT = /^(22|23|42)[0-9A-Z]{3}$/

/** A bound becomes part of a statement, and a file may come from anywhere: nothing but literals gets through. */
const BOUND_VALUES = String.raw`\((?:'[^'\\]*'|-?[0-9.]+|MINVALUE|MAXVALUE|NULL|true|false|, )+\)`
const BOUND = new RegExp(
  String.raw`^(?:DEFAULT|FOR VALUES (?:IN ${BOUND_VALUES}|FROM ${BOUND_VALUES} TO ${BOUND_VALUES}|WITH \(modulus \d+, remainder \d+\)))$`,
)

/** A backup is restored into an empty database only. */
export class DatabaseNotEmpty extends Refusal {}

export interface RestoreOptions {
  /** Leaves out tables that Hourbank's migrations do not make, instead of refusing the backup that holds them. */
  skipUnknown?: boolean
  /** Where the migrations lie; tests play later versions with it. */
  migrations?: URL
  /** Done to what was restored before anyone can see it, in the same transaction. */
  finish?: (tx: Transaction) => Promise<void>
}

export interface RestoreSummary {
  /** When the backup was made. */
  createdAt: string
  rows: number
  rowsByTable: Record<string, number>
  /** Tables and sequences left out. */
  skipped: string[]
  /** Migrations that this version has beyond those of the backup; they were applied to the restored data. */
  migrated: string[]
}

/** Fills an empty database from a backup: completely, or not at all. */
export async function restore(
  sql: Sql,
  file: string,
  onProgress: (progress: Progress) => void,
  options: RestoreOptions = {},
): Promise<RestoreSummary> {
  const { size } = await stat(file).catch((cause: Error) => {
    throw unreadable(file, cause)
  })
  const source = createReadStream(file)
  const chunks = pipeline(source, createGunzip({ chunkSize: CHUNK_BYTES }), () => {
    // A failure is raised where the chunks are read.
  })
  try {
    const text = readText(file, chunks)
    const header = await readHeader(file, text)
    await unlessDamaged(text, refuseNewer(file, header, options))
    const report = (label: string) => onProgress({ done: source.bytesRead, total: size, label, unit: 'bytes' })
    return await begin(sql, 'read write', (tx) => fill(tx, { file, text, header, report, options }))
  } finally {
    chunks.destroy()
    source.destroy()
  }
}

/** What a wrong byte leads to may look like anything; its checksum, at the end of the file, tells. */
async function unlessDamaged<T>(text: BackupText, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    await text.skipToEnd()
    throw error
  }
}

async function readHeader(file: string, text: BackupText): Promise<BackupHeader> {
  const value = parse(await text.line())
  const { format, version } = (value ?? {}) as Partial<BackupHeader>
  if (format !== BACKUP_FORMAT) throw notABackup(file)
  if (typeof version === 'number' && version > BACKUP_VERSION) throw newer(file, `format ${version}`)
  if (!Value.Check(BackupHeader, value)) throw damaged(file, 'its first line is incomplete')
  return value
}

async function refuseNewer(file: string, header: BackupHeader, options: RestoreOptions): Promise<void> {
  const known = await migrationNames(options.migrations)
  const unknown = header.migrations.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw newer(file, unknown.join(', '))
}

interface Work {
  file: string
  text: BackupText
  header: BackupHeader
  report: (label: string) => void
  options: RestoreOptions
}

async function fill(tx: Transaction, work: Work): Promise<RestoreSummary> {
  const directory = work.options.migrations && { directory: work.options.migrations }
  await fixSettings(tx)
  await withoutTimeLimit(tx)
  await lockMigrations(tx)
  await refuseUsed(tx)
  await applyMigrations(tx, { only: work.header.migrations, ...directory })

  const tables = (await listTables(tx)).map(({ name }) => name)
  const triggers = await silenceTriggers(tx)
  await tx.unsafe(`truncate ${tables.map(publicName).join(', ')}`)
  const { rowsByTable, sequences, skipped } = await unlessDamaged(work.text, fillTables(tx, tables, work))

  work.report('finishing')
  await wakeTriggers(tx, triggers)
  for (const [sequence, value] of sequences) await moveOn(tx, sequence, value)
  const migrated = await applyMigrations(tx, { ...directory })
  // Those of later migrations too: a newer version may have handed out ids before the backup had to be used.
  for (const { sequence } of await listSequences(tx)) {
    if (!sequences.has(sequence)) await moveOn(tx, sequence, await lastValue(tx, sequence))
  }
  await renewEpoch(tx)
  await endSessions(tx)
  await work.options.finish?.(tx)
  await tx.unsafe(`analyze ${(await listTables(tx)).map(({ name }) => publicName(name)).join(', ')}`)

  const rows = [...rowsByTable.values()].reduce((sum, some) => sum + some, 0)
  return {
    createdAt: work.header.created_at,
    rows,
    rowsByTable: Object.fromEntries(rowsByTable),
    skipped,
    migrated,
  }
}

async function refuseUsed(tx: Queries): Promise<void> {
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

interface Filled {
  rowsByTable: Map<string, number>
  /** Where the backup left each, by their names in this database. */
  sequences: Map<string, string>
  skipped: string[]
}

async function fillTables(tx: Transaction, tables: string[], work: Work): Promise<Filled> {
  const { file, text, options } = work
  const here = await listSequences(tx)
  const filled: Filled = { rowsByTable: new Map(), sequences: new Map(), skipped: [] }
  const found = new Map<string, number>()

  function skip(what: string): void {
    if (!options.skipUnknown) throw new UnusableBackup(`${file} holds ${what}, which no migration of Hourbank makes.`)
    filled.skipped.push(what)
  }

  for (;;) {
    const next = await text.line()
    if (next === undefined) throw cutOff(file)
    const entry = parse(next)
    if (Value.Check(TableEntry, entry) && !found.has(entry.table)) {
      const known = tables.includes(entry.table)
      if (!known) skip(`the table ${entry.table}`)
      if (known) await makePartitions(tx, entry, file)
      const rows = known ? await copyRows(tx, entry, work) : await passOver(entry, work)
      found.set(entry.table, rows)
      if (known) filled.rowsByTable.set(entry.table, rows)
    } else if (Value.Check(SequenceEntry, entry)) {
      const sequence = findSequence(here, entry)
      if (sequence) filled.sequences.set(sequence, entry.value)
      else skip(`the sequence ${entry.sequence}`)
    } else if (Value.Check(EndEntry, entry)) {
      await checkEnd(tables, found, entry, work)
      return filled
    } else {
      throw damaged(file, 'there is a line that means nothing')
    }
  }
}

async function checkEnd(tables: string[], found: Map<string, number>, end: EndEntry, work: Work): Promise<void> {
  const { file, text } = work
  for (const table of new Set([...tables, ...found.keys(), ...Object.keys(end.rows)])) {
    const [rows, promised] = [found.get(table), end.rows[table]]
    if (rows === undefined) throw damaged(file, `the table ${table} is missing`)
    if (rows !== promised) throw damaged(file, `it has ${rows} rows of ${table}, and should have ${promised ?? 'none'}`)
  }
  // Reads to the very end, where gzip keeps its checksum.
  if ((await text.line()) !== undefined) throw damaged(file, 'it goes on behind its end')
}

/** By the column it numbers: names of sequences are PostgreSQL's choice. */
function findSequence(here: Omit<SequenceEntry, 'value'>[], entry: SequenceEntry): string | undefined {
  const same = here.filter(({ table, column }) => table === entry.table && column === entry.column)
  const named = same.find(({ sequence }) => sequence === entry.sequence)
  return (named ?? (entry.table === null ? undefined : same[0]))?.sequence
}

/** As they were, so that pruning goes on dropping them instead of deleting rows from a default partition. */
async function makePartitions(tx: Queries, { table, partitions }: TableEntry, file: string): Promise<void> {
  for (const { name, bound } of partitions) {
    if (!BOUND.test(bound)) throw damaged(file, `the partition ${name} has no bound that is known`)
    // Those that migrations made are there already.
    await tx.unsafe(`create table if not exists ${publicName(name)} partition of ${publicName(table)} ${bound}`)
  }
}

async function copyRows(tx: Transaction, { table, columns }: TableEntry, work: Work): Promise<number> {
  let rows = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of work.text.rows()) {
      rows += countLines(chunk)
      yield chunk
      work.report(table)
    }
  }
  try {
    await tx.copyIn(`copy ${publicName(table)} (${columns.map(quoteName).join(', ')}) from stdin`, counted())
  } catch (error) {
    throw explained(error, table, work.file)
  }
  return rows
}

/** Rows or columns that do not fit. Says where, but not what: PostgreSQL's message may quote a value, its context the row. */
function explained(error: unknown, table: string, file: string): unknown {
  const { code, message, where } = error as { code?: string; message: string; where?: string }
  if (!MISFIT.test(code ?? '')) return error
  const reason = message.replace(/: ".*/s, '')
  const at = /\bline \d+(, column \w+)?/.exec(where ?? '')?.[0]
  return damaged(file, `the table ${table} does not fit: ${reason}${at ? ` (${at})` : ''}`, error)
}

async function passOver({ table }: TableEntry, work: Work): Promise<number> {
  let rows = 0
  for await (const chunk of work.text.rows()) {
    rows += countLines(chunk)
    work.report(table)
  }
  return rows
}

interface Trigger {
  table: string
  name: string
  enabled: 'O' | 'R' | 'A'
}

const WAKE = { O: 'enable', R: 'enable replica', A: 'enable always' }

/** What triggers did when the rows were first written is in the backup; they must not do it again. */
async function silenceTriggers(tx: Queries): Promise<Trigger[]> {
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

async function wakeTriggers(tx: Queries, triggers: Trigger[]): Promise<void> {
  // A table with checks put off until the commit cannot be altered before they are made.
  await tx`set constraints all immediate`
  for (const { table, name, enabled } of triggers) {
    await tx.unsafe(`alter table ${publicName(table)} ${WAKE[enabled]} trigger ${quoteName(name)}`)
  }
}

/** The next id is SEQUENCE_GAP behind the value. */
async function moveOn(tx: Queries, sequence: string, value: string): Promise<void> {
  await tx`
    select setval(seqrelid::regclass, ${value}::int8 + seqincrement * ${SEQUENCE_GAP}, false)
    from pg_sequence where seqrelid = ${publicName(sequence)}::regclass`
}

/** So that a cursor from before the restore is recognised as such. */
async function renewEpoch(tx: Queries): Promise<void> {
  await tx`insert into installation default values on conflict (single) do update set epoch = gen_random_uuid()`
}

/** A session or a link that was ended after the backup must not come back with it. */
async function endSessions(tx: Queries): Promise<void> {
  await tx`delete from admin_sessions`
  await tx`delete from admin_links`
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
