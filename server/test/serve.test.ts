import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/postgres/connect.ts'
import { lockMigrations } from '../src/postgres/migrate.ts'
import { callNode, eventually, fetchToken, freePort } from './bank.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'
import { type Settings, start, run } from './commands.ts'
import { isServerRunning, newDataDir } from './data-dir.ts'
import { lockTable, openTransaction, someoneWaits } from './lock-table.ts'

async function serve(settings: Settings) {
  const port = await freePort()
  const child = start(['serve'], { PORT: `${port}`, ...settings })
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', () => child.printed().stdout.includes('Hourbank is running.') && resolve())
    child.once('close', () => reject(new Error(`serve ended: ${child.printed().stderr}`)))
  })
  return { child, url: `http://127.0.0.1:${port}` }
}

test('serve prints its addresses, logs JSON to standard error, and ends with code 0 on SIGTERM', async () => {
  const DATABASE_URL = await newEmptyDatabase()
  const { child, url } = await serve({ DATABASE_URL, DEMO: 'on' })
  const { stdout } = child.printed()
  expect(stdout).toContain(`Console      ${url}/console/`)
  const curl = stdout.split('\n').find((line) => line.startsWith('curl '))!
  expect(curl).toContain(`${url}/api/partner/v1/oauth/token`)
  const { client_id, client_secret } = JSON.parse(/'(\{.*\})'$/.exec(curl)![1]!)
  await fetchToken(url, { partnerId: 0, clientId: client_id, clientSecret: client_secret })

  child.kill('SIGTERM')
  const outcome = await child.outcome
  expect(outcome.code).toBe(0)
  for (const line of outcome.stderr.trimEnd().split('\n'))
    expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) })
  expect(outcome.stderr).not.toContain(client_secret)
  await expect(callNode(url, '/healthz')).rejects.toThrow()

  const again = await serve({ DATABASE_URL, DEMO: 'on', LOG_LEVEL: 'silent' })
  expect(again.child.printed().stdout).not.toMatch(/hbs_|One-time password/)
  expect(again.child.printed().stdout).toContain('npx hourbank partner create')
  await fetchToken(again.url, { partnerId: 0, clientId: client_id, clientSecret: client_secret })
})

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

const isThere = (pid: number) => existsSync(`/proc/${pid}`)

const isWeb = async (pid: number) => (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes('web-process')

// Linux tells who a process's children are.
test.skipIf(process.platform !== 'linux')(
  'several processes share the port; one that dies is replaced; all end together',
  async () => {
    const { child, url } = await serve({ DATABASE_URL: await newDatabase(), WEB_CONCURRENCY: '2' })
    const workers = () => childrenOf(child.pid!)
    expect(await workers()).toHaveLength(2)
    const [victim] = await workers()
    process.kill(victim!, 'SIGKILL')
    await eventually(async () => {
      const now = await workers()
      return now.length === 2 && !now.includes(victim!)
    })
    await eventually(async () => (await callNode(url, '/readyz').catch(() => undefined))?.status === 200)
    child.kill('SIGTERM')
    expect((await child.outcome).code).toBe(0)
    await expect(callNode(url, '/healthz')).rejects.toThrow()
  },
)

test.skipIf(process.platform !== 'linux')(
  'a web process that gets SIGTERM repeatedly finishes its requests first',
  async () => {
    const databaseUrl = await newEmptyDatabase()
    const { child, url } = await serve({ DATABASE_URL: databaseUrl, DEMO: 'on', WEB_CONCURRENCY: '2' })
    const [, clientId, clientSecret] = /client_id +(\S+)\n +client_secret +(\S+)/.exec(child.printed().stdout)!
    const token = await fetchToken(url, { partnerId: 0, clientId: clientId!, clientSecret: clientSecret! })
    const sql = connect(databaseUrl, { connectionsMax: 2, name: 'test' })
    onTestFinished(() => sql.end())
    const lock = await lockTable(sql, 'members')
    const inFlight = callNode(url, '/users', { token })
    await lock.awaited()
    const workers = await childrenOf(child.pid!)
    for (let times = 0; times < 5; times += 1) {
      // The one without a request ends at once.
      for (const pid of workers.filter(isThere)) process.kill(pid, 'SIGTERM')
      // Signals of one kind that arrive together count as one.
      await pause(100)
    }
    expect(workers.filter(isThere)).not.toEqual([])
    await lock.release()
    expect((await inFlight).status).toBe(200)
  },
)

test.skipIf(process.platform !== 'linux')(
  'the service fails, after it has stopped its database, if its web processes keep ending',
  async () => {
    const dataDir = await newDataDir()
    const { child } = await serve({ DATA_DIR: dataDir, DEMO: 'off', WEB_CONCURRENCY: '2' })
    while (child.exitCode === null) {
      for (const pid of await childrenOf(child.pid!).catch(() => [])) {
        if (await isWeb(pid).catch(() => false)) process.kill(pid, 'SIGKILL')
      }
      await pause(50)
    }
    const { code, stderr } = await child.outcome
    expect(code).toBe(1)
    expect(stderr).toContain('"msg":"web processes keep ending"')
    expect(stderr).toMatch(/^Web processes keep ending, so the service has stopped\..*$/m)
    expect(stderr).not.toContain('SIGTERM')
    expect(await isServerRunning(dataDir)).toBe(false)
  },
)

test('a signal ends a start that waits for the migration of another node', async () => {
  const DATABASE_URL = await newDatabase()
  const sql = connect(DATABASE_URL, { connectionsMax: 2, name: 'test' })
  onTestFinished(() => sql.end({ timeoutMs: 1000 }))
  const held = await openTransaction(sql)
  await lockMigrations(held.tx)
  const child = start(['serve'], { DATABASE_URL, PORT: `${await freePort()}`, LOG_LEVEL: 'silent' })
  await someoneWaits(sql, '%advisory%')
  child.kill('SIGTERM')
  expect((await child.outcome).code).toBe(1)
})

test('the service does not start without a writable temporary folder, and reports it', async () => {
  const settings = { DATABASE_URL: await newDatabase(), TMPDIR: '/proc/nowhere', LOG_LEVEL: 'silent' }
  const outcome = await run(['serve'], { ...settings, PORT: `${await freePort()}` })
  expect(outcome).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The temporary folder \/proc\/nowhere cannot be written, .*TMPDIR\.\n$/),
  })
})

test('a port in use is reported once, even with several processes', async () => {
  const blocker = createServer()
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void blocker.close())
  const { port } = blocker.address() as { port: number }
  const settings = { DATABASE_URL: await newDatabase(), PORT: `${port}`, WEB_CONCURRENCY: '2', LOG_LEVEL: 'silent' }
  const outcome = await run(['serve'], settings)
  expect(outcome).toMatchObject({ code: 1, stdout: '' })
  expect(outcome.stderr).toBe(
    `Port ${port} is already in use. Stop the program that uses it, or choose another port: PORT=3001 npm start\n`,
  )
})
