import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { callNode, eventually, fetchToken, freePort } from './bank.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'
import { type Settings, start, run } from './commands.ts'

async function serve(settings: Settings) {
  const port = await freePort()
  const child = start(['serve'], { PORT: `${port}`, ...settings })
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', () => child.printed().stdout.includes('Hourbank is running.') && resolve())
    child.once('close', () => reject(new Error(`serve ended: ${child.printed().stderr}`)))
  })
  return { child, url: `http://127.0.0.1:${port}` }
}

test('serve tells people where it is, logs JSON beside it, and ends in order when it is told to', async () => {
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

test('a port that is taken is said once, however many processes want it', async () => {
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
