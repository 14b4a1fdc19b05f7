import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { createPartitions } from '../src/postgres/partitions.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
  }
}

const TEMPLATE = 'template_hourbank'

/** Nothing survives the run, so nothing has to reach the disk. */
const FAST_SETTINGS = [
  'fsync = off',
  'synchronous_commit = off',
  'full_page_writes = off',
  "max_wal_size = '8GB'",
  "checkpoint_timeout = '1h'",
]

/** One real PostgreSQL for the whole run; each test clones a migrated template. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hourbank-test-'))
  // As root the database runs as another user, who has to come in.
  await chmod(dataDir, 0o711)
  const server = await openEmbedded(dataDir, 'serve')
  await withServer(server.url, async (sql) => {
    for (const setting of FAST_SETTINGS) await sql.unsafe(`alter system set ${setting}`)
    await sql`select pg_reload_conf()`
  })
  await createDatabase(server.url, TEMPLATE)
  const sql = connect(urlOf(server.url, TEMPLATE), { connectionsMax: 1, name: 'test template' })
  await migrate(sql)
  // A node makes them at its start; made here they are there for all.
  await createPartitions(sql)
  await sql.end()
  project.provide('serverUrl', server.url)
  return async () => {
    await server.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** A migrated database of the test's own. */
export async function newDatabase(): Promise<string> {
  return makeDatabase(TEMPLATE)
}

/** A database without tables. */
export async function newEmptyDatabase(): Promise<string> {
  return makeDatabase('template0')
}

async function makeDatabase(template: string): Promise<string> {
  const serverUrl = inject('serverUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await createDatabase(serverUrl, name, template)
  return urlOf(serverUrl, name)
}

async function createDatabase(serverUrl: string, name: string, template = 'template0'): Promise<void> {
  await withServer(serverUrl, (sql) => sql.unsafe(`create database ${name} template ${template} strategy file_copy`))
}

async function withServer<T>(serverUrl: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(serverUrl, { connectionsMax: 1, name: 'test' })
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
