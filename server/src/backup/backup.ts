import { randomBytes } from 'node:crypto'
import { link, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Progress } from '../core/progress.ts'
import { Refusal } from '../core/refusal.ts'
import {
  BACKUP_FORMAT,
  BACKUP_VERSION,
  countLines,
  ROWS_END,
  type BackupHeader,
  type EndEntry,
  type SequenceEntry,
  type TableEntry,
} from './backup-format.ts'
import type { BackupKey } from './backup-keys.ts'
import {
  fixSettings,
  disableTransactionTimeout,
  lastValue,
  listSequences,
  listTables,
  publicName,
  sortByReferences,
  type Table,
} from './catalogue.ts'
import { sealBackup } from './seal-backup.ts'
import { atOneMoment } from '../postgres/cluster/one-moment.ts'
import type { Queries, Sql, Transaction } from '../postgres/connect.ts'
import { appliedMigrations, holdOffMigrations } from '../postgres/migrate.ts'
import { quoteName } from '../postgres/statement.ts'

const CHUNK_BYTES = 64 * 1024
/** How often the list of tables may change between listing and locking them. */
const LISTING_TRIES_MAX = 5
/** Undefined table; a deadlock with a migration that started at the same time. */
const TABLES_CHANGED = new Set(['42P01', '40P01'])
/** link() fails with these on file systems without hard links. */
const NO_HARD_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])

export interface BackupOptions {
  /** Makes the digest, and encrypts if asked to. */
  key: BackupKey
  encrypt?: boolean
  /** Replaces an existing file. */
  overwrite?: boolean
  appVersion?: string
  /** Aborts the backup and leaves no file behind. */
  signal?: AbortSignal
}

export interface BackupSummary {
  createdAt: string
  bytes: number
  rows: number
  rowsByTable: Record<string, number>
}

/** Writes a consistent snapshot of the database to a file while the service runs. */
export async function backup(
  sql: Sql,
  file: string,
  onProgress: (progress: Progress) => void,
  options: BackupOptions,
): Promise<BackupSummary> {
  if (!options.overwrite) await rejectExisting(file)
  const partial = `${file}.partial-${randomBytes(8).toString('hex')}`
  const out = await openOutput(partial, file)
  try {
    const summary = await writeSnapshot(sql, out, onProgress, options).finally(() => out.close())
    await moveIntoPlace(partial, file, options.overwrite ?? false)
    await syncFolder(dirname(file))
    return summary
  } finally {
    await rm(partial, { force: true })
  }
}

interface Output {
  write(chunk: Buffer): Promise<void>
  /** Flushes everything to disk and returns the number of bytes. */
  sync(): Promise<number>
  close(): Promise<void>
}

async function openOutput(partial: string, file: string): Promise<Output> {
  const explain = (cause: Error) => {
    throw new Refusal(`A backup cannot be written to ${file}: ${cause.message}`, { cause })
  }
  const handle = await open(partial, 'wx', 0o600).catch(explain)
  return {
    write: (chunk) => handle.writeFile(chunk).catch(explain),
    sync: async () => {
      await handle.sync().catch(explain)
      return (await handle.stat()).size
    },
    close: () => handle.close(),
  }
}

async function rejectExisting(file: string): Promise<void> {
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (found) throw alreadyExists(file)
}

function alreadyExists(file: string, cause?: unknown): Error {
  return new Refusal(`${file} already exists, and a backup does not overwrite it. Choose another name.`, { cause })
}

async function moveIntoPlace(partial: string, file: string, overwrite: boolean): Promise<void> {
  if (overwrite) return rename(partial, file)
  try {
    // Not rename(), which would replace a file created since the check.
    await link(partial, file)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw alreadyExists(file, error)
    if (!NO_HARD_LINKS.has(codeOf(error))) throw error
    await rejectExisting(file)
    await rename(partial, file)
  }
}

/** A file name is durable only after its folder is synced. Network file systems that cannot do this need not. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

async function writeSnapshot(
  sql: Sql,
  out: Output,
  onProgress: (progress: Progress) => void,
  options: BackupOptions,
): Promise<BackupSummary> {
  const pool = options.signal ? sql.until(options.signal) : sql
  const snapshot = await inSnapshot(pool, async (tx, tables) => {
    const header = await readHeader(tx, options)
    const progress = countRows(tables, onProgress)
    const text = backupText(tx, header, tables, progress)
    const seal = (gzip: AsyncIterable<Buffer>) => sealBackup(options.key, options.encrypt ?? false, gzip)
    await pipeline(text, createGzip({ chunkSize: CHUNK_BYTES }), seal, (chunks) => writeAll(out, chunks), {
      ...(options.signal && { signal: options.signal }),
    })
    return { createdAt: header.created_at, rowsByTable: Object.fromEntries(progress.rowsByTable) }
  })
  const bytes = await out.sync()
  const rows = Object.values(snapshot.rowsByTable).reduce((sum, some) => sum + some, 0)
  onProgress({ done: rows, total: rows, label: 'all tables' })
  return { ...snapshot, bytes, rows }
}

async function writeAll(out: Output, chunks: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of chunks) await out.write(chunk)
}

/**
 * Runs a function in a transaction with one snapshot. All tables are locked before the snapshot is taken: a table that
 * a migration rewrites afterwards would look empty in it. LOCK takes no snapshot; the first SELECT does.
 */
async function inSnapshot<T>(sql: Sql, run: (tx: Transaction, tables: Table[]) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    await requireHourbankTables(sql)
    const before = await listTables(sql)
    let isRunning = false
    const begin = (takeSnapshots: (tx: Transaction) => Promise<void>) =>
      sql.begin('isolation level repeatable read read only', async (tx) => {
        await fixSettings(tx)
        const locked = [...before.map(({ name }) => name), 'schema_migrations']
        await tx.unsafe(`lock table ${locked.map(publicName).join(', ')} in access share mode`)
        await disableTransactionTimeout(tx)
        await holdOffMigrations(tx)
        const tables = await listTables(tx)
        if (tables.some(({ name }) => !locked.includes(name))) throw new TablesChanged()
        await takeSnapshots(tx)
        isRunning = true
        return run(tx, sortByReferences(tables))
      })
    try {
      return await atOneMoment(sql, begin)
    } catch (error) {
      const haveChanged = error instanceof TablesChanged || TABLES_CHANGED.has(codeOf(error))
      if (isRunning || !haveChanged || tries === LISTING_TRIES_MAX) throw error
    }
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? ''
}

class TablesChanged extends Refusal {
  override message = 'The tables of the database keep changing. Try again when no migration is running.'
}

async function requireHourbankTables(sql: Queries): Promise<void> {
  const [row] = await sql<{ found: boolean }[]>`select to_regclass('public.schema_migrations') is not null as found`
  if (!row?.found) throw new Refusal('This database has no Hourbank tables, so there is nothing to back up.')
}

async function readHeader(tx: Queries, options: BackupOptions): Promise<BackupHeader> {
  const [row] = await tx<[{ created_at: string; server_version: string }]>`
    select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as created_at,
      current_setting('server_version') as server_version`
  return {
    format: BACKUP_FORMAT,
    version: BACKUP_VERSION,
    created_at: row.created_at,
    server_version: row.server_version,
    ...(options.appVersion !== undefined && { app_version: options.appVersion }),
    migrations: await appliedMigrations(tx),
  }
}

interface RowCount {
  rowsByTable: Map<string, number>
  add(table: string, rows: number): void
}

function countRows(tables: Table[], onProgress: (progress: Progress) => void): RowCount {
  const rowsByTable = new Map<string, number>()
  const estimate = Math.round(tables.reduce((sum, table) => sum + table.estimate, 0))
  let done = 0
  return {
    rowsByTable,
    add(table, rows) {
      done += rows
      rowsByTable.set(table, (rowsByTable.get(table) ?? 0) + rows)
      onProgress({ done, total: estimate > 0 ? Math.max(estimate, done) : undefined, label: table })
    },
  }
}

async function* backupText(
  tx: Transaction,
  header: BackupHeader,
  tables: Table[],
  progress: RowCount,
): AsyncGenerator<string | Buffer> {
  yield line(header)
  for (const { name, columns, partitions } of tables) {
    progress.add(name, 0)
    yield line({ table: name, columns, partitions } satisfies TableEntry)
    for await (const rows of tx.copyOut(
      `copy (select ${columns.map(quoteName).join(', ')} from ${publicName(name)}) to stdout`,
    )) {
      progress.add(name, countLines(rows))
      yield rows
    }
    yield ROWS_END
  }
  // Read sequences after the rows, so that no id exceeds its sequence: snapshots do not cover sequences.
  for (const sequence of await listSequences(tx)) {
    yield line({ ...sequence, value: await lastValue(tx, sequence.sequence) } satisfies SequenceEntry)
  }
  yield line({ end: true, rows: Object.fromEntries(progress.rowsByTable) } satisfies EndEntry)
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
