import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { callNode, eventually, fetchToken } from './bank.ts'
import { captureLog } from './capture-log.ts'
import { hourbankEmbedded, serveEmbedded } from './command-line.ts'
import { isServerRunning, newDataDir, query, readPid } from './data-dir.ts'

/** Several probes have to fail before a server that still runs is given up. */
const PROBES_MS = 60_000

/** An embedded database in this process, supervised as in the service. */
async function openSupervised() {
  const dataDir = await newDataDir()
  const { log, entries } = captureLog()
  const database = await openEmbedded(dataDir, 'serve', log)
  onTestFinished(() => database.close())
  const kill = async () => {
    const pid = (await readPid(dataDir))!
    process.kill(pid, 'SIGKILL')
    return pid
  }
  /** Resolves when a server other than that one answers at the same address. */
  const restarted = (pid: number, waitMs?: number) =>
    eventually(async () => {
      const now = await readPid(dataDir)
      return now !== pid && (await query(database.url, (sql) => sql`select 1`).catch(() => undefined)) && now
    }, waitMs)
  return { dataDir, database, url: database.url, entries, kill, restarted }
}

/** The sessions that hold the locks by which processes share the database: one while only the service uses it. */
const lockHolders = (url: string) =>
  query(url, async (sql) => {
    const rows = await sql<{ pid: number }[]>`
      select distinct pid from pg_locks where locktype = 'advisory' and granted and database in (
        select oid from pg_database where datname = 'postgres')`
    return rows.map(({ pid }) => pid)
  })

test.each(['1', '2'])(
  'the service restarts a killed PostgreSQL and loses nothing it acknowledged (WEB_CONCURRENCY=%s)',
  async (concurrency) => {
    const dataDir = await newDataDir()
    const service = await serveEmbedded(dataDir, { WEB_CONCURRENCY: concurrency, LOG_LEVEL: 'info' })
    const call = (path: string, options = {}) => callNode(service.url, path, options)
    const [, clientId, clientSecret] = /client_id +(\S+)\n +client_secret +(\S+)/.exec(service.output())!
    const token = await fetchToken(service.url, { partnerId: 0, clientId: clientId!, clientSecret: clientSecret! })
    const body = { user_id: 1, hours: 1.5, reference: 'before-the-crash' }
    const credit = await call('/wallet/credit', { token, body })
    expect(credit.status).toBe(201)

    for (let round = 0; round < 3; round++) {
      const pid = (await readPid(dataDir))!
      process.kill(pid, 'SIGKILL')
      await eventually(async () => (await readPid(dataDir)) !== pid)
      await eventually(async () => (await call('/readyz')).status === 200)
      const again = await eventually(async () => {
        const answer = await call('/wallet/credit', { token, body })
        return answer.status === 200 && answer
      })
      expect(again.body.data.transaction_id).toBe(credit.body.data.transaction_id)
    }
    // The database accepts connections before the service has noted it.
    for (const message of ['the database has stopped; restarting it', 'the database was restarted']) {
      await eventually(() => service.entries().some(({ msg }) => msg === message))
    }

    // A command beside the service does not stop the restarted server at its end.
    const pid = await readPid(dataDir)
    expect(await hourbankEmbedded(dataDir, 'community', 'list')).toContain('demo')
    expect(await readPid(dataDir)).toBe(pid)
    expect(await service.end('SIGTERM')).toBe(0)
    expect(await isServerRunning(dataDir)).toBe(false)
  },
)

test('the service stops the database with itself, even when it was about to restart it', async () => {
  const dataDir = await newDataDir()
  const service = await serveEmbedded(dataDir, { DEMO: 'false' })
  process.kill((await readPid(dataDir))!, 'SIGKILL')
  expect(await service.end('SIGTERM')).toBe(0)
  expect(await isServerRunning(dataDir)).toBe(false)
})

test('a database that is closed during its restart stays stopped', async () => {
  for (const until of ['the database has stopped; restarting it', 'the database was restarted']) {
    const { dataDir, database, entries, kill } = await openSupervised()
    await kill()
    await eventually(() => entries().some(({ msg }) => msg === until))
    await database.close()
    expect(await isServerRunning(dataDir), until).toBe(false)
  }
})

test('locks are taken again after a restart, so that a command does not stop the database', async () => {
  const { dataDir, url, kill, restarted } = await openSupervised()
  const pid = await restarted(await kill())
  await eventually(async () => (await lockHolders(url)).length === 1)
  const command = await openEmbedded(dataDir, 'command')
  expect(command.url).toBe(url)
  await command.close()
  expect(await readPid(dataDir)).toBe(pid)
})

test('a command that finds the database gone restarts it where the service expects it', async () => {
  const { dataDir, url, kill } = await openSupervised()
  await kill()
  const command = await openEmbedded(dataDir, 'command')
  expect(command.url).toBe(url)
  await command.close()
  await eventually(() => query(url, (sql) => sql`select 1`).catch(() => undefined))
})

test('a session in the middle of a long statement does not hold up the restart', async () => {
  const { url, kill, restarted } = await openSupervised()
  const busy = query(url, (sql) => sql`select count(*) from generate_series(1, 1000000000000)`).catch(() => {})
  await eventually(() =>
    query(url, async (sql) => {
      const rows = await sql`select from pg_stat_activity where state = 'active' and query like '%generate_series%'
        and pid <> pg_backend_pid()`
      return rows.length > 0
    }),
  )
  await restarted(await kill())
  await busy
})

test('a PostgreSQL that accepts no connections is killed and restarted', async () => {
  const { dataDir, entries, restarted } = await openSupervised()
  const pid = (await readPid(dataDir))!
  process.kill(pid, 'SIGSTOP')
  await restarted(pid, PROBES_MS)
  expect(entries()).toContainEqual(
    expect.objectContaining({
      postgres_pid: pid,
      msg: 'the database accepts no connections; killing it for a restart',
    }),
  )
})

test('a PostgreSQL that does not start is retried with pauses until it does', async () => {
  const { dataDir, entries, kill, restarted } = await openSupervised()
  const settings = join(dataDir, 'postgres', 'data', 'postgresql.conf')
  const before = await readFile(settings, 'utf8')
  await appendFile(settings, '\nno_such_setting = 1\n')
  const pid = await kill()
  const failures = () => entries().filter(({ msg }) => msg === 'the database does not restart: see its log; retrying')
  await eventually(() => failures().length >= 3)
  expect(failures().map(({ attempt }) => attempt)).toEqual(failures().map((_, index) => index + 1))
  expect(failures()[0].err.message).toContain('unrecognized configuration parameter "no_such_setting"')
  const pauses = failures().map(({ retry_in_ms }) => retry_in_ms)
  expect(pauses).toEqual(pauses.toSorted((one, other) => one - other))
  expect(pauses[1]).toBeGreaterThan(pauses[0])
  await writeFile(settings, before)
  await restarted(pid)
})
