import { randomBytes } from 'node:crypto'
import { link, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { Type, type Static } from 'typebox'
import { Refusal } from '../refusal.ts'
import { begin, type Queries, type Sql } from './connect.ts'
import { appliedMigrations, holdOffMigrations } from './migrate.ts'

/*
 * A backup is one gzip stream of lines:
 *
 *   the header        {"format":"hourbank-backup","version":1,"created_at":…,"migrations":[…]}
 *   for each table    {"table":"members","columns":["community_id","id",…],"partitions":[]}
 *                     its rows in PostgreSQL's COPY text format, which escapes line ends and backslashes
 *                     \.
 *   for each sequence {"sequence":"members_id_seq","table":"members","column":"id","value":"17"}
 *   the end           {"end":true,"rows":{"members":16,…}}
 *
 * A table comes after those it refers to. What tables and columns there are is read from the catalogue, so that a
 * migration never has to think of backups.
 */
export const BACKUP_FORMAT = 'hourbank-backup'
export const BACKUP_VERSION = 1
/** The line after a table's last row. No row looks like it: COPY writes a backslash as two. */
export const ROWS_END = '\\.\n'

export const BackupHeader = Type.Object({
  format: Type.Literal(BACKUP_FORMAT),
  version: Type.Integer(),
  created_at: Type.String(),
  server_version: Type.String(),
  app_version: Type.Optional(Type.String()),
  migrations: Type.Array(Type.String()),
})
export type BackupHeader = Static<typeof BackupHeader>

/** A partition that a job made, not a migration: `bound` is how PostgreSQL words which rows it takes. */
export const Partition = Type.Object({ name: Type.String(), bound: Type.String() })
export type Partition = Static<typeof Partition>

export const TableEntry = Type.Object({
  table: Type.String(),
  columns: Type.Array(Type.String()),
  partitions: Type.Array(Partition),
})
export type TableEntry = Static<typeof TableEntry>

export const SequenceEntry = Type.Object({
  sequence: Type.String(),
  /** The column it numbers, by which a restore finds it; null for a sequence that stands alone. */
  table: Type.Union([Type.String(), Type.Null()]),
  column: Type.Union([Type.String(), Type.Null()]),
  /** Text: an int8 need not fit a JSON number. */
  value: Type.String({ pattern: '^-?[0-9]{1,19}$' }),
})
export type SequenceEntry = Static<typeof SequenceEntry>

export const EndEntry = Type.Object({ end: Type.Literal(true), rows: Type.Record(Type.String(), Type.Integer()) })
export type EndEntry = Static<typeof EndEntry>

const CHUNK_BYTES = 64 * 1024
/** How often the list of tables may change between reading and locking it. */
const LISTING_TRIES_MAX = 5
/** No such table; a deadlock with a migration that began at the same moment. */
const TABLES_CHANGED = new Set(['42P01', '40P01'])
/** What link() says on file systems without hard links. */
const NO_HARD_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])

export interface Progress {
  done: number
  /** An estimate, unless `unit` is bytes. */
  total: number | undefined
  /** What is being worked on. */
  label: string
  unit?: 'rows' | 'bytes'
}

export interface BackupOptions {
  /** Replaces the file if there is one. */
  overwrite?: boolean
  appVersion?: string
  /** Ends the backup early, leaving no file behind. */
  signal?: AbortSignal
}

export interface BackupSummary {
  createdAt: string
  bytes: number
  rows: number
  rowsByTable: Record<string, number>
}

/** Writes everything, as of one moment, into a file, while the service runs. */
export async function backup(
  sql: Sql,
  file: string,
  onProgress: (progress: Progress) => void,
  options: BackupOptions = {},
): Promise<BackupSummary> {
  if (!options.overwrite) await refuseExisting(file)
  const partial = `${file}.partial-${randomBytes(8).toString('hex')}`
  const out = await openNew(partial, file)
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
  /** Resolves when everything is on the disk, to the number of bytes. */
  sync(): Promise<number>
  close(): Promise<void>
}

async function openNew(partial: string, file: string): Promise<Output> {
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

async function refuseExisting(file: string): Promise<void> {
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (found) throw alreadyExists(file)
}

function alreadyExists(file: string, cause?: unknown): Error {
  return new Refusal(`${file} exists already, and a backup does not overwrite it. Choose another name.`, { cause })
}

async function moveIntoPlace(partial: string, file: string, overwrite: boolean): Promise<void> {
  if (overwrite) return rename(partial, file)
  try {
    // Not rename(), which replaces a file that appeared since we looked.
    await link(partial, file)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw alreadyExists(file, error)
    if (!NO_HARD_LINKS.has(codeOf(error))) throw error
    await refuseExisting(file)
    await rename(partial, file)
  }
}

/** The name is safe only when its folder is. Network file systems that cannot sync a folder keep names by themselves. */
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
  const snapshot = await inSnapshot(sql, async (tx, tables) => {
    const header = await readHeader(tx, options)
    const progress = countRows(tables, onProgress)
    const text = backupText(sql, tx, header, tables, progress)
    await pipeline(text, createGzip({ chunkSize: CHUNK_BYTES }), (chunks) => writeAll(out, chunks), {
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
 * Runs a function in one transaction that sees one moment. All tables are locked before that moment is chosen: a table
 * that a migration rewrites afterwards would look empty from it. LOCK chooses no moment, the first SELECT does.
 */
async function inSnapshot<T>(sql: Sql, run: (tx: Queries, tables: Table[]) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    await refuseUnknown(sql)
    const before = await listTables(sql)
    let running = false
    try {
      return await begin(sql, 'isolation level repeatable read read only', async (tx) => {
        await fixSettings(tx)
        const locked = [...before.map(({ name }) => name), 'schema_migrations']
        await tx.unsafe(`lock table ${locked.map(publicName).join(', ')} in access share mode`)
        await withoutTimeLimit(tx)
        await holdOffMigrations(tx)
        const tables = await listTables(tx)
        if (tables.some(({ name }) => !locked.includes(name))) throw new TablesChanged()
        running = true
        return run(tx, inOrderOfReference(tables))
      })
    } catch (error) {
      const changed = error instanceof TablesChanged || TABLES_CHANGED.has(codeOf(error))
      if (running || !changed || tries === LISTING_TRIES_MAX) throw error
    }
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? ''
}

class TablesChanged extends Refusal {
  override message = 'The tables of the database keep changing. Try again when no migration is running.'
}

async function refuseUnknown(sql: Queries): Promise<void> {
  const [row] = await sql<{ found: boolean }[]>`select to_regclass('public.schema_migrations') is not null as found`
  if (!row?.found) throw new Refusal('This database holds no tables of Hourbank, so there is nothing to back up.')
}

/** The text of a value depends on these, and a role or a database may carry others. */
export async function fixSettings(tx: Queries): Promise<void> {
  await tx.unsafe(`
    set local search_path = public;
    set local datestyle = 'ISO, MDY';
    set local intervalstyle = 'postgres';
    set local timezone = 'UTC';
    set local extra_float_digits = 3;
    set local bytea_output = 'hex';
    set local row_security = off; -- an error instead of rows that are silently missing
    set local statement_timeout = 0;
    set local lock_timeout = 0;
    set local idle_in_transaction_session_timeout = 0`)
}

/** As a query, because `set` fails on the versions before 17, which have no such setting. */
export async function withoutTimeLimit(tx: Queries): Promise<void> {
  await tx`select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'`
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
  sql: Sql,
  tx: Queries,
  header: BackupHeader,
  tables: Table[],
  progress: RowCount,
): AsyncGenerator<string | Buffer> {
  yield line(header)
  for (const { name, columns, partitions } of tables) {
    progress.add(name, 0)
    yield line({ table: name, columns, partitions } satisfies TableEntry)
    for await (const rows of copyOut(sql, tx, name, columns)) {
      progress.add(name, countLines(rows))
      yield rows
    }
    yield ROWS_END
  }
  // After the rows, so that no id among them is above its sequence: sequences do not stand still in a snapshot.
  for (const sequence of await listSequences(tx)) {
    yield line({ ...sequence, value: await lastValue(tx, sequence.sequence) } satisfies SequenceEntry)
  }
  yield line({ end: true, rows: Object.fromEntries(progress.rowsByTable) } satisfies EndEntry)
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

export function countLines(text: Buffer): number {
  let lines = 0
  for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) lines++
  return lines
}

async function* copyOut(sql: Sql, tx: Queries, table: string, columns: string[]): AsyncGenerator<Buffer> {
  const [backend] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
  const rows = await tx
    .unsafe(`copy (select ${columns.map(quoted).join(', ')} from ${publicName(table)}) to stdout`)
    .readable()
  try {
    // Left alone when the file cannot be written: the driver goes on feeding a destroyed stream, and refuses to send
    // the ROLLBACK as long as it does.
    yield* rows.iterator({ destroyOnReturn: false })
  } finally {
    if (!rows.readableEnded && !rows.destroyed) await endCopy(sql, rows, backend!.pid)
    // The driver pauses its socket when the stream is full, and does not resume it if the stream ends meanwhile: the
    // next query would wait for ever (porsager/postgres#499, #1016). Its read function is what resumes it.
    resumeSocket(rows)
  }
}

function resumeSocket(rows: Readable): void {
  try {
    // oxlint-disable-next-line no-underscore-dangle -- Node's name for it
    rows._read(0)
  } catch {
    // The connection is gone, and with it the socket.
  }
}

/** Has the server give up on a COPY, and reads what is still on its way. */
async function endCopy(sql: Sql, rows: Readable, pid: number): Promise<void> {
  rows.resume()
  // With one connection there is none to say it on; then all rows are read and thrown away.
  const cancelled = sql.options.max > 1 && sql`select pg_cancel_backend(${pid})`
  await Promise.allSettled([cancelled, finished(rows)])
}

export interface Table {
  name: string
  columns: string[]
  references: string[]
  partitions: Partition[]
  /** Rows, roughly; 0 where PostgreSQL has not counted yet. */
  estimate: number
}

/** All tables but the list of migrations. Partitions are part of their table; generated columns generate themselves. */
export async function listTables(sql: Queries): Promise<Table[]> {
  return sql<Table[]>`
    select c.relname::text as name,
      array(
        select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum) as columns,
      array(
        select distinct r.relname::text
        from pg_constraint f join pg_class r on r.oid = coalesce(pg_partition_root(f.confrelid), f.confrelid)
        where f.contype = 'f' and f.conparentid = 0 and coalesce(pg_partition_root(f.conrelid), f.conrelid) = c.oid
          and r.oid <> c.oid and r.relnamespace = c.relnamespace
        order by 1) as references,
      coalesce((
        select jsonb_agg(jsonb_build_object('name', p.relname, 'bound', pg_get_expr(p.relpartbound, p.oid))
          order by p.relname)
        from pg_inherits i join pg_class p on p.oid = i.inhrelid
        where i.inhparent = c.oid and p.relkind = 'r' and p.relnamespace = c.relnamespace), '[]') as partitions,
      (select coalesce(sum(greatest(l.reltuples, pg_stat_get_live_tuples(l.oid), 0)), 0)::float8
       from pg_class l
       where case when c.relkind = 'p'
         then l.oid in (select p.relid from pg_partition_tree(c.oid) p where p.isleaf) else l.oid = c.oid end) as estimate
    from pg_class c
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
      and c.relname <> 'schema_migrations'
      and not exists (
        select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by c.relname collate "C"`
}

/** Each table after those it refers to; alphabetical otherwise. */
export function inOrderOfReference(tables: Table[]): Table[] {
  const ordered: Table[] = []
  let waiting = tables
  while (waiting.length > 0) {
    const next = waiting.find((table) => !waiting.some((other) => other !== table && refers(table, other)))
    if (!next) throw new Error(describeCircle(waiting))
    ordered.push(next)
    waiting = waiting.filter((table) => table !== next)
  }
  return ordered
}

function refers(table: Table, other: Table): boolean {
  return table.references.includes(other.name)
}

/** Each of these refers to another one of them, so following the references comes round. */
function describeCircle(tables: Table[]): string {
  const path: Table[] = []
  let at = tables[0]!
  while (!path.includes(at)) {
    path.push(at)
    at = tables.find((other) => refers(at, other))!
  }
  const names = path.slice(path.indexOf(at)).map(({ name }) => name)
  return `These tables refer to each other in a circle, so that none can be restored first: ${names.join(', ')}.`
}

export async function listSequences(sql: Queries): Promise<Omit<SequenceEntry, 'value'>[]> {
  return sql<Omit<SequenceEntry, 'value'>[]>`
    select s.relname::text as sequence, t.relname::text as table, a.attname::text as column
    from pg_class s
    left join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid
      and d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0 and d.deptype in ('a', 'i')
    left join pg_class t on t.oid = d.refobjid
    left join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where s.relkind = 'S' and s.relnamespace = 'public'::regnamespace
      and not exists (
        select from pg_depend e where e.classid = 'pg_class'::regclass and e.objid = s.oid and e.deptype = 'e')
    order by s.relname collate "C"`
}

export async function lastValue(sql: Queries, sequence: string): Promise<string> {
  const [row] = await sql.unsafe<{ value: string }[]>(`select last_value::text as value from ${publicName(sequence)}`)
  return row!.value
}

export function publicName(name: string): string {
  return `public.${quoted(name)}`
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
