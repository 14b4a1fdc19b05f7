import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Progress } from '../core/progress.ts'
import { Refusal } from '../core/refusal.ts'
import { writeWholeFile } from '../core/write-whole-file.ts'
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
  let snapshot: Snapshot | undefined
  const fill = async (write: (chunk: Buffer) => Promise<void>) => {
    snapshot = await writeSnapshot(sql, write, onProgress, options)
  }
  const bytes = await writeWholeFile(file, fill, { overwrite: options.overwrite ?? false })
  const { createdAt, rowsByTable } = snapshot!
  const rows = Object.values(rowsByTable).reduce((sum, some) => sum + some, 0)
  onProgress({ done: rows, total: rows, label: 'all tables' })
  return { createdAt, rowsByTable, bytes, rows }
}

type Snapshot = Pick<BackupSummary, 'createdAt' | 'rowsByTable'>

async function writeSnapshot(
  sql: Sql,
  write: (chunk: Buffer) => Promise<void>,
  onProgress: (progress: Progress) => void,
  options: BackupOptions,
): Promise<Snapshot> {
  const pool = options.signal ? sql.until(options.signal) : sql
  const writeAll = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await write(chunk)
  }
  return inSnapshot(pool, async (tx, tables) => {
    const header = await readHeader(tx, options)
    const progress = countRows(tables, onProgress)
    const text = backupText(tx, header, tables, progress)
    const seal = (gzip: AsyncIterable<Buffer>) => sealBackup(options.key, options.encrypt ?? false, gzip)
    await pipeline(text, createGzip({ chunkSize: CHUNK_BYTES }), seal, writeAll, {
      ...(options.signal && { signal: options.signal }),
    })
    return { createdAt: header.created_at, rowsByTable: Object.fromEntries(progress.rowsByTable) }
  })
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
