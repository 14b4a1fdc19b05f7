import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import type { TestProject } from 'vitest/node'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { openEmbedded, type EmbeddedDatabase } from '../src/postgres/embedded/embedded.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { createPartitions } from '../src/postgres/partitions.ts'
import { findUnrestricted, reportUnrestricted, statementsFile } from './check-statements.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
    /** A migrated database to clone. Every database of this run has its name as prefix. */
    template: string
  }
}

/** Nothing has to survive the run, so nothing has to reach the disk. */
const FAST_SETTINGS = [
  'fsync = off',
  'synchronous_commit = off',
  'full_page_writes = off',
  "max_wal_size = '8GB'",
  "checkpoint_timeout = '1h'",
]

/** One real PostgreSQL for the whole run, the one of TEST_DATABASE_URL if it is set; tests clone a migrated template. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-test-'))
  // Like /tmp itself: some tests run programs as other users.
  await chmod(folder, 0o1777)
  // Workers inherit it, so whatever they leave behind is removed with it, even after one is killed.
  process.env.TMPDIR = folder
  const server = await openServer(process.env.TEST_DATABASE_URL)
  const template = `hourbank_test_${randomUUID().slice(0, 8)}`
  await withDatabase(server.url, (sql) => createDatabase(sql, template, 'template0'))
  await withDatabase(urlOf(server.url, template), async (sql) => {
    await migrate(sql)
    // A node creates these when it starts; with them in the template, it has nothing to do.
    await createPartitions(sql)
  })
  project.provide('serverUrl', server.url)
  project.provide('template', template)
  return async () => {
    const statements = await withDatabase(urlOf(server.url, template), (sql) => findUnrestricted(sql, statementsFile()))
    if (process.env.TEST_DATABASE_URL) await withDatabase(server.url, (sql) => dropDatabases(sql, template))
    await server.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    reportUnrestricted(statements)
  }
}

async function openServer(url: string | undefined): Promise<EmbeddedDatabase> {
  if (url) return { url, serviceUrl: url, close: async () => {} }
  const dataDir = await mkdtemp(join(tmpdir(), 'server-'))
  // When tests run as root, the database runs as another user, who has to reach the folder.
  await chmod(dataDir, 0o711)
  const server = await openEmbedded(dataDir, 'serve')
  await withDatabase(server.url, async (sql) => {
    for (const setting of FAST_SETTINGS) await sql.unsafe(`alter system set ${setting}`)
    await sql`select pg_reload_conf()`
    await hashPasswordFast(sql, server.url)
  })
  return server
}

/** Every connection derives a key from the password, on both sides. Nobody attacks it here, so one round is enough. */
async function hashPasswordFast(sql: Sql, url: string): Promise<void> {
  const { username, password } = new URL(url)
  await sql.unsafe(`set scram_iterations = 1; alter role ${username} password '${password}'`)
}

/** A migrated database for one test. */
export async function newDatabase(): Promise<string> {
  return cloneDatabase(inject('template'))
}

/** A database without tables. */
export async function newEmptyDatabase(): Promise<string> {
  return cloneDatabase('template0')
}

async function cloneDatabase(source: string): Promise<string> {
  const serverUrl = inject('serverUrl')
  const name = `${inject('template')}_${randomUUID().replaceAll('-', '')}`
  await withDatabase(serverUrl, (sql) => createDatabase(sql, name, source))
  dropAfterTest(() => withDatabase(serverUrl, (sql) => sql.unsafe(`drop database if exists ${name} with (force)`)))
  return urlOf(serverUrl, name)
}

/** Outside of a test, for all tests of a file, it stays until the run ends. */
function dropAfterTest(drop: () => Promise<unknown>): void {
  try {
    onTestFinished(async () => void (await drop()))
  } catch {
    // Vitest's way of saying that no test is running.
  }
}

async function createDatabase(sql: Sql, name: string, source: string): Promise<void> {
  await sql.unsafe(`create database ${name} template ${source} strategy file_copy`)
}

async function dropDatabases(sql: Sql, prefix: string): Promise<void> {
  const databases = await sql<{ name: string }[]>`
    select datname as name from pg_database where starts_with(datname, ${prefix})`
  for (const { name } of databases) await sql.unsafe(`drop database ${name} with (force)`)
}

async function withDatabase<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(url, { connectionsMax: 1, name: 'test' })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}
