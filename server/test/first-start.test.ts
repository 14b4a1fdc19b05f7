import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { callNode, eventually, fetchToken, freePort } from './bank.ts'
import { run, start, type Settings } from './commands.ts'
import { embeddedEnvironment, hourbankEmbedded, serveEmbedded } from './command-line.ts'
import { newDataDir } from './data-dir.ts'
import { newEmptyDatabase } from './database.ts'

async function serve(settings: Settings) {
  const child = start(['serve'], { LOG_LEVEL: 'silent', ...settings })
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(child.printed().stderr)
    return child.printed().stdout.includes('Hourbank is running.')
  })
  return { url: `http://127.0.0.1:${settings.PORT}`, printed: child.printed().stdout }
}

const tokenOf = (url: string, clientId: string, clientSecret: string) =>
  fetchToken(url, { partnerId: 0, clientId, clientSecret })

const signIn = (url: string, email: string, password: string) =>
  callNode(url, `${ADMIN_PREFIX}/session`, { body: { email, password }, headers: { origin: url } })

test('a first start whose port is in use uses up no credentials: the next start shows them', async () => {
  // Of this process alone: nobody else takes it when it is free again.
  const port = await freePort()
  const blocker = createServer().listen(port, '127.0.0.1')
  await once(blocker, 'listening')
  onTestFinished(() => void blocker.close())
  const settings = { DATABASE_URL: await newEmptyDatabase(), DEMO: 'on', PORT: `${port}` }
  expect((await run(['serve'], settings)).stderr).toContain(`Port ${port} is already in use.`)

  blocker.close()
  await once(blocker, 'close')
  const { url, printed } = await serve(settings)
  const [, password] = /One-time password +(\S+)/.exec(printed)!
  const [, clientId] = /client_id +(\S+)/.exec(printed)!
  const [, clientSecret] = /client_secret +(\S+)/.exec(printed)!
  await tokenOf(url, clientId!, clientSecret!)
  expect((await signIn(url, 'admin@demo.example', password!)).status).toBe(200)
})

test('demo credentials replaces what was lost, and admin list shows who administers what', async () => {
  const settings = { DATABASE_URL: await newEmptyDatabase(), DEMO: 'on', PORT: `${await freePort()}` }
  const { url, printed } = await serve(settings)
  const [, oldSecret] = /client_secret +(\S+)/.exec(printed)!
  const outcome = await run(['demo', 'credentials', '--json'], settings)
  const { email, one_time_password, client_id, client_secret } = JSON.parse(outcome.stdout)
  expect(printed).toContain(client_id)
  await tokenOf(url, client_id, client_secret)
  await expect(tokenOf(url, client_id, oldSecret!)).rejects.toThrow()
  expect(JSON.parse((await run(['admin', 'list', '--json'], settings)).stdout)).toEqual([
    {
      admin_id: expect.any(Number),
      email,
      name: 'Demo owner',
      second_factor: false,
      last_seen_at: null,
      communities: [{ slug: 'demo', role: 'owner' }],
    },
  ])
  expect((await signIn(url, email, one_time_password)).status).toBe(200)
  const listed = (await run(['admin', 'list'], settings)).stdout
  expect(listed).toMatch(/^admin@demo\.example {2}Demo owner {2}owner of demo {2}.*no second factor\n$/)
  expect(listed).not.toContain(one_time_password)
})

test('demo credentials for the shell leave the password and the shown secret valid, and know the address', async () => {
  const dataDir = await newDataDir()
  const service = await serveEmbedded(dataDir)
  const [, clientId] = /client_id +(\S+)/.exec(service.output())!
  const [, clientSecret] = /client_secret +(\S+)/.exec(service.output())!
  // Without PORT: the command is typed in another terminal.
  expect(embeddedEnvironment(dataDir)).not.toHaveProperty('PORT')
  for (const turn of ['first', 'second']) {
    const lines = (await hourbankEmbedded(dataDir, 'demo', 'credentials', '--shell')).trimEnd().split('\n')
    const values = Object.fromEntries(lines.map((line) => line.split('=', 2)))
    expect(values.HOURBANK_API, turn).toBe(`${service.url}/api/partner/v1`)
    await tokenOf(service.url, values.HOURBANK_CLIENT_ID, values.HOURBANK_CLIENT_SECRET)
  }
  await tokenOf(service.url, clientId!, clientSecret!)
})

test('without a demo, there are no credentials to issue', async () => {
  const DATABASE_URL = await newEmptyDatabase()
  await run(['migrate'], { DATABASE_URL })
  expect(await run(['demo', 'credentials'], { DATABASE_URL })).toMatchObject({
    code: 1,
    stderr: 'There is no community demo. Create it with: npx hourbank demo\n',
  })
})
