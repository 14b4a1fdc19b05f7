import { readFile, readdir } from 'node:fs/promises'
import { PROJECT } from '../core/project.ts'
import { transaction, type Queries, type Sql } from './connect.ts'

const MIGRATIONS_DIR = new URL('server/migrations/', PROJECT)
/** Must differ from the service's other advisory locks. */
const MIGRATION_LOCK = 4_711_001

export class NewerDatabase extends Error {}
export class WrongEncoding extends Error {}

export interface MigrateOptions {
  /** Stops after this migration. */
  upTo?: string
  /** Applies only these; a restore first creates the schema that its backup had. */
  only?: readonly string[]
  /** Called under the lock, before an existing database is changed. */
  beforeChange?: () => Promise<void>
  /** The folder of the migrations; tests use it to simulate later versions. */
  directory?: URL
}

/** Applies the missing migrations in one transaction, under a lock, and returns their names. */
export async function migrate(sql: Sql, options: MigrateOptions = {}): Promise<string[]> {
  return transaction(sql, (tx) => applyMigrations(tx, options))
}

/** Like `migrate`, within the caller's transaction. */
export async function applyMigrations(tx: Queries, options: MigrateOptions = {}): Promise<string[]> {
  const directory = options.directory ?? MIGRATIONS_DIR
  const files = await migrationNames(directory)
  await lockMigrations(tx)
  // Not `create table if not exists`, for which a role that owns nothing has no permission.
  if (!(await hasMigrationsTable(tx))) {
    await requireUtf8(tx)
    await tx`
      create table schema_migrations (name text primary key, applied_at timestamptz not null default now())`
  }
  const applied = await appliedMigrations(tx)
  const unknown = applied.filter((name) => !files.includes(name))
  if (unknown.length > 0) {
    throw new NewerDatabase(
      `The database was changed by a newer version of Hourbank (${unknown.join(', ')}). Start that version or a later one.`,
    )
  }
  const isSelected = (name: string) => (!options.upTo || name <= options.upTo) && (options.only?.includes(name) ?? true)
  const missing = files.filter((name) => !applied.includes(name) && isSelected(name))
  if (missing.length > 0 && applied.length > 0) await options.beforeChange?.()
  for (const name of missing) {
    await tx.unsafe(await readFile(new URL(`${name}.sql`, directory), 'utf8'))
    await tx`insert into schema_migrations (name) values (${name})`
  }
  return missing
}

/** Of new databases only: one that is in use must start. In another encoding, the first name that does not fit fails. */
async function requireUtf8(tx: Queries): Promise<void> {
  const [{ encoding }] = await tx<[{ encoding: string }]>`select current_setting('server_encoding') as encoding`
  if (encoding === 'UTF8') return
  throw new WrongEncoding(
    `The encoding of the database is ${encoding}, which lacks letters of many names. Use a new one: ` +
      "create database hourbank owner … encoding 'UTF8' template template0",
  )
}

/** Blocks other migrations until the transaction ends. Transaction-level, because a pooler may reassign the session. */
export async function lockMigrations(tx: Queries): Promise<void> {
  await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`
}

/**
 * Makes migrations wait until the transaction ends, before they touch any table. Does nothing while one is running: it
 * may be the migration that requested this backup.
 */
export async function holdOffMigrations(tx: Queries): Promise<void> {
  await tx`select pg_try_advisory_xact_lock_shared(${MIGRATION_LOCK})`
}

/** Whether every migration of this version has been applied. */
export async function isMigrated(sql: Queries): Promise<boolean> {
  if (!(await hasMigrationsTable(sql))) return false
  const applied = await appliedMigrations(sql)
  return (await migrationNames()).every((name) => applied.includes(name))
}

async function hasMigrationsTable(sql: Queries): Promise<boolean> {
  const [row] = await sql<[{ found: boolean }]>`select to_regclass('schema_migrations') is not null as found`
  return row.found
}

export async function appliedMigrations(sql: Queries): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`select name from schema_migrations order by name`
  return rows.map((row) => row.name)
}

export async function migrationNames(directory: URL = MIGRATIONS_DIR): Promise<string[]> {
  const files = await readdir(directory)
  return files
    .filter((file) => /^\d{4}_.+\.sql$/.test(file))
    .map((file) => file.replace(/\.sql$/, ''))
    .toSorted()
}
