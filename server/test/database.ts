import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import { connect } from '../src/postgres/connect.ts'
import { openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { createPartitions } from '../src/postgres/partitions.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
  }
}

const TEMPLATE = 'template_hourbank'

/** One real PostgreSQL for the whole run; each test clones a migrated template. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hourbank-test-'))
  // As root the database runs as another user, who has to come in.
  await chmod(dataDir, 0o711)
  const server = await openEmbedded(dataDir, 'serve')
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
  const sql = connect(serverUrl, { connectionsMax: 1, name: 'test' })
  await sql.unsafe(`create database ${name} template ${template} strategy file_copy`)
  await sql.end()
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}
