import { readFile } from 'node:fs/promises'
import { onTestFinished } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { createPartner } from '../src/features/partners/create-partner.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { addAdmin, type TestAdmin } from './admin.ts'
import { callNode, eventually, fetchToken, SECRET_KEY, TESTER, type Bank, type TestPartner } from './bank.ts'
import { newDataDir, readPid } from './data-dir.ts'
import { newDatabase } from './database.ts'
import { START_MS, startKillable } from './killable-service.ts'
import type { Receiver } from './receiver.ts'

const MEMBERS = 4

/** A service of several processes, each of which can be killed, with a community under load. */
export interface CrashService {
  name: string
  url: string
  sql: Sql
  communityId: number
  memberIds: number[]
  partner: TestPartner
  token: string
  admin: TestAdmin
  /** Ways to kill a part of it. Each resolves when the part runs again. */
  kills: (() => Promise<void>)[]
}

const settingsFor = (receiver: Receiver) => ({
  NODE_EXTRA_CA_CERTS: receiver.caFile,
  WEBHOOK_ALLOW_PRIVATE_TARGETS: 'on',
  LOG_LEVEL: 'error',
  DEMO: 'off',
})

/** Two web processes and a delivery worker on DATABASE_URL. */
export async function startOnDatabaseUrl(receiver: Receiver): Promise<CrashService> {
  const databaseUrl = await newDatabase()
  const settings = { ...settingsFor(receiver), DATABASE_URL: databaseUrl, SECRET_KEY }
  const server = await startKillable({ ...settings, ROLE: 'api', WEB_CONCURRENCY: '2' })
  const worker = await startKillable({ ...settings, ROLE: 'worker' })
  const fill = await fillService('DATABASE_URL', server.url, databaseUrl, receiver)
  return {
    ...fill,
    kills: [
      server.killAndRestart,
      worker.killAndRestart,
      async () => {
        const [child] = await childrenOf(server.pid())
        process.kill(child!, 'SIGKILL')
        await isReady(server.url)
      },
      () => killSession(fill.sql),
    ],
  }
}

/** One process on the embedded database, which it restarts. */
export async function startOnEmbedded(receiver: Receiver): Promise<CrashService> {
  const dataDir = await newDataDir()
  const server = await startKillable({ ...settingsFor(receiver), DATA_DIR: dataDir })
  const database = await openEmbedded(dataDir, 'command')
  await database.close()
  const fill = await fillService('embedded', server.url, database.url, receiver)
  return {
    ...fill,
    kills: [
      server.killAndRestart,
      async () => {
        const pid = (await readPid(dataDir))!
        process.kill(pid, 'SIGKILL')
        await eventually(async () => (await readPid(dataDir)) !== pid, START_MS)
        await isReady(server.url)
      },
      () => killSession(fill.sql),
    ],
  }
}

async function fillService(name: string, url: string, databaseUrl: string, receiver: Receiver) {
  const sql = connect(databaseUrl, { connectionsMax: 2, name: 'test' })
  onTestFinished(() => sql.end({ timeoutMs: 1000 }))
  const { id: communityId } = await createCommunity(sql, TESTER, { slug: 'town', name: 'Town' })
  const settings = { name: 'Bank', scopes: SCOPE_NAMES, rateLimitPerMinute: 1_000_000 }
  const partner = await createPartner(sql, TESTER, communityId, settings)
  const memberIds: number[] = []
  for (let n = 0; n < MEMBERS; n++)
    memberIds.push((await addMember(sql, TESTER, communityId, { name: `Member ${n}` })).id)
  const admin = await addAdmin({ url, sql, communityId } as Bank)
  const token = await fetchToken(url, partner)
  const subscription = { event_types: ['*'], target_url: `https://localhost:${receiver.port}/hook` }
  const { status } = await callNode(url, '/webhooks/subscriptions', { token, body: subscription })
  if (status !== 201) throw new Error(`not subscribed: ${status}`)
  return { name, url, sql, communityId, memberIds, partner, token, admin }
}

async function isReady(url: string): Promise<void> {
  await eventually(async () => (await callNode(url, '/readyz').catch(() => undefined))?.status === 200, START_MS)
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.trim().split(' ').map(Number)
}

/** One of the service's sessions. */
async function killSession(sql: Sql): Promise<void> {
  const kill = async () => {
    await sql`
      select pg_terminate_backend(pid) from (
        select pid from pg_stat_activity
        where datname = current_database() and application_name like 'hourbank %' and application_name <> 'hourbank test'
        order by random() limit 1) session`
    return true
  }
  // The test's own session may have ended with the postmaster.
  await eventually(() => kill().catch(() => undefined))
}
