import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { callNode, eventually, fetchToken, freePort, startBank } from './bank.ts'
import { COMMAND, embeddedEnvironment, serveEmbedded } from './command-line.ts'
import { newDataDir, query, readPid } from './data-dir.ts'
import { testOnOneServer } from './one-server.ts'
import { mountDisk } from './small-disk.ts'

const DISK_BYTES = 200 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024
const CHUNKS_MAX = DISK_BYTES / CHUNK_BYTES
/** Long enough for a busy machine, on which a start took more than a minute. */
const RECOVERY_MS = 300_000

/** Takes all the space that is left. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    for (let chunks = 0; chunks < CHUNKS_MAX; chunks++) await handle.writeFile(Buffer.alloc(CHUNK_BYTES))
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' })
  } finally {
    await handle.close()
  }
}

/** Writes to PostgreSQL's log until it has no room for more, which ends the server. */
async function exhaustLog(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'postgres')
  const password = await readFile(join(folder, 'password'), 'utf8')
  const port = (await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8')).split('\n')[3]
  const write = query(`postgres://hourbank:${password}@127.0.0.1:${port}/hourbank`, async (sql) => {
    for (let chunks = 0; chunks < CHUNKS_MAX; chunks++) {
      await sql`select pg_logical_emit_message(true, 'test', repeat('x', ${CHUNK_BYTES}::int))`
    }
  })
  await expect(write).rejects.toThrow()
}

test('with a full disk the service says so, serves reads, loses nothing and recovers by itself', async ({ skip }) => {
  const disk = await mountDisk(DISK_BYTES)
  if (!disk) return skip('a disk of limited size can only be mounted by root')
  const dataDir = await newDataDir(disk)
  const service = await serveEmbedded(dataDir)
  const [, clientId, clientSecret] = /client_id +(\S+)\n +client_secret +(\S+)/.exec(service.output())!
  const token = await fetchToken(service.url, { partnerId: 0, clientId: clientId!, clientSecret: clientSecret! })
  const call = (path: string, options = {}) => callNode(service.url, path, { token, ...options })
  const acknowledged = new Map<string, number>()
  const credit = async (reference: string) => {
    const answer = await call('/wallet/credit', { body: { user_id: 1, hours: 0.01, reference } })
    if (answer.status === 201) acknowledged.set(reference, answer.body.data.transaction_id)
    return answer
  }
  const readiness = () => callNode(service.url, '/readyz')
  const isLogged = (text: string) => service.entries().some(({ msg }) => msg.includes(text))
  expect((await credit('with-space')).status).toBe(201)

  await fill(join(disk, 'ballast'))
  let count = 0
  const refused = await eventually(async () => {
    const answer = await credit(`without-space-${count++}`)
    expect([201, 503]).toContain(answer.status)
    return answer.status === 503 && answer
  })
  expect(refused.body).toMatchObject({ error: 'unavailable', error_description: expect.stringContaining('disk') })
  expect((await call('/listings')).status).toBe(200)
  expect(await readiness()).toMatchObject({ status: 503, body: { reason: expect.stringContaining('Free space') } })
  expect((await callNode(service.url, '/healthz')).status).toBe(200)
  await eventually(() => isLogged('the disk of the database is full'))

  await exhaustLog(dataDir)
  await eventually(() => isLogged('the database does not restart: its disk is full'))
  expect(await readiness()).toMatchObject({ status: 503, body: { reason: expect.stringContaining('Free space') } })
  expect((await credit('without-database')).status).toBe(503)

  await rm(join(disk, 'ballast'))
  const freedAtMs = performance.now()
  await eventually(async () => (await readiness()).status === 200, RECOVERY_MS)
  const recoveredMs = Math.round(performance.now() - freedAtMs)
  expect((await credit('with-space-again')).status).toBe(201)
  for (const [reference, id] of acknowledged) {
    const answer = await call('/wallet/credit', { body: { user_id: 1, hours: 0.01, reference } })
    expect(answer, reference).toMatchObject({ status: 200, body: { data: { transaction_id: id } } })
  }
  console.log(
    `database out of disk: callers saw 503, recovered after ${recoveredMs} ms\n${acknowledged.size} credits, 0 lost`,
  )
  expect(await readPid(dataDir)).toBeGreaterThan(0)
  expect(await service.end('SIGTERM')).toBe(0)
})

const NEEDS_TRIGGERS = 'Citus has no triggers on distributed tables.'

testOnOneServer(NEEDS_TRIGGERS, 'a write that PostgreSQL rejects for lack of space is answered with 503', async () => {
  const bank = await startBank()
  await bank.sql.unsafe(`
    create function reject() returns trigger language plpgsql as $$ begin
      raise exception 'could not extend file "base/1/1": No space left on device' using errcode = 'disk_full';
    end $$;
    create trigger full_disk before insert on tokens for each row execute function reject()`)
  const { clientId, clientSecret } = bank.partner
  const answer = await bank.call('/oauth/token', {
    body: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
  })
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).not.toBeNull()
  expect(answer.body).toMatchObject({
    error: 'unavailable',
    error_description: 'The disk of the database is full and nothing was saved; try again later.',
  })
})

/** Linux's device on which every write fails for lack of space. */
const FULL_DEVICE = '/dev/full'

test.skipIf(!existsSync(FULL_DEVICE))('a log that cannot be written does not end the service', async () => {
  const dataDir = await newDataDir()
  const port = await freePort()
  const env = embeddedEnvironment(dataDir, { PORT: `${port}`, DEMO: 'false', LOG_LEVEL: 'trace' })
  const child = spawn(process.execPath, [COMMAND, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', openSync(FULL_DEVICE, 'w')],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  let printed = ''
  child.stdout!.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await eventually(() => child.exitCode !== null || printed.includes('Hourbank is running.'), RECOVERY_MS)
  expect(child.exitCode).toBeNull()
  const url = `http://127.0.0.1:${port}`
  // Each of these writes a line to the log.
  for (let count = 0; count < 20; count++) expect((await callNode(url, '/api/partner/v1/users')).status).toBe(401)
  expect((await callNode(url, '/readyz')).status).toBe(200)
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
})
