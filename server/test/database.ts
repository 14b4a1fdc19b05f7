import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import type { TestProject } from 'vitest/node'
import type { Sql } from '../src/postgres/connect.ts'
import { openEmbedded, type EmbeddedDatabase } from '../src/postgres/embedded/embedded.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { createPartitions } from '../src/postgres/partitions.ts'
import { findUnrestricted, reportUnrestricted, statementsFile } from './check-statements.ts'
import { closeDatabase, distributeForTests, findNodes, joinNodes, withDatabase } from './citus-nodes.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
    /** All servers of a Citus cluster, the one above first; otherwise only that one. */
    nodeUrls: string[]
    /** A migrated database to clone. Every database of this run has its name as prefix. */
    template: string
  }
}

const OBJECT_IN_USE = '55006'
const DROP_TRIES_MAX = 20

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
  const nodes = await findNodes(server.url)
  const isCluster = nodes.length > 1
  await onAll(nodes, (sql) => createDatabase(sql, template, 'template0'))
  if (isCluster) await joinNodes(nodes.map((node) => urlOf(node, template)))
  await withDatabase(urlOf(server.url, template), async (sql) => {
    await migrate(sql)
    // A node creates these when it starts; with them in the template, it has nothing to do.
    await createPartitions(sql)
    if (isCluster) await distributeForTests(sql)
  })
  if (isCluster) for (const node of nodes) await closeDatabase(node, template)
  project.provide('serverUrl', server.url)
  project.provide('nodeUrls', nodes)
  project.provide('template', template)
  return async () => {
    // The plans of a cluster do not show which rows its workers read.
    const statements = isCluster
      ? { checked: 0, found: [] }
      : await withDatabase(urlOf(server.url, template), (sql) => findUnrestricted(sql, statementsFile()))
    if (process.env.TEST_DATABASE_URL) await onAll(nodes, (sql) => dropDatabases(sql, template))
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

/** A migrated database for one test. On a cluster, it is distributed. */
export async function newDatabase(): Promise<string> {
  return cloneDatabase(inject('template'), inject('nodeUrls'))
}

/** A database without tables, on one server. */
export async function newEmptyDatabase(): Promise<string> {
  return cloneDatabase('template0', [inject('serverUrl')])
}

/** A database without tables in another encoding than UTF-8, which some old and managed servers have by default. */
export async function newLatinDatabase(): Promise<string> {
  return cloneDatabase(`template0 encoding 'LATIN1' locale 'C'`, [inject('serverUrl')])
}

/** A database without tables on all nodes of the cluster. Citus is not installed in it yet. */
export async function newClusterDatabase(): Promise<string[]> {
  const nodes = inject('nodeUrls')
  const url = await cloneDatabase('template0', nodes)
  return nodes.map((node) => urlOf(node, new URL(url).pathname.slice(1)))
}

/** Workers of a cluster have databases of the same name. */
async function cloneDatabase(source: string, nodes: string[]): Promise<string> {
  const name = `${inject('template')}_${randomUUID().replaceAll('-', '')}`
  await onAll(nodes, (sql) => createDatabase(sql, name, source))
  dropAfterTest(() => onAll(nodes, (sql) => dropDatabase(sql, name)))
  return urlOf(nodes[0]!, name)
}

async function onAll(nodes: string[], work: (sql: Sql) => Promise<unknown>): Promise<void> {
  await Promise.all(nodes.map((node) => withDatabase(node, work)))
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

/** Citus keeps a background process in each database, and may start it again while others end. */
async function dropDatabase(sql: Sql, name: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await sql.unsafe(`drop database if exists ${name} with (force)`)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== OBJECT_IN_USE || tries === DROP_TRIES_MAX) throw error
    }
  }
}

async function dropDatabases(sql: Sql, prefix: string): Promise<void> {
  const databases = await sql<{ name: string }[]>`
    select datname as name from pg_database where starts_with(datname, ${prefix})`
  for (const { name } of databases) await dropDatabase(sql, name)
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}
