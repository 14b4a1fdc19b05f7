import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { apiDescription } from '../src/cli/describe.ts'
import { migrationNames } from '../src/postgres/migrate.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { callNode, eventually, fetchToken, freePort, startBank, type Bank } from './bank.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'

/** What is built is run: `npm test` builds before it tests. */
const COMMAND = fileURLToPath(new URL('../bin/hourbank.js', import.meta.url))
const SECRET_KEY = 'test'.repeat(8)
const AT_ONCE = 4

interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

type Settings = Record<string, string>

function start(
  args: string[],
  settings: Settings,
): ChildProcess & { outcome: Promise<Outcome>; printed: () => Outcome } {
  // Only what is named here: the settings of whoever runs the tests are not the tests'.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, SECRET_KEY, ...settings }
  const child = spawn(process.execPath, [COMMAND, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed: Outcome = { code: null, stdout: '', stderr: '' }
  child.stdout.on('data', (text) => (printed.stdout += text))
  child.stderr.on('data', (text) => (printed.stderr += text))
  const outcome = once(child, 'close').then(([code]) => ({ ...printed, code }))
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await outcome
  })
  return Object.assign(child, { outcome, printed: () => printed })
}

const run = (args: string[], settings: Settings): Promise<Outcome> => start(args, settings).outcome

/** Runs a command that must succeed beside the bank's running service, and reads its JSON. */
async function runJson({ databaseUrl }: Bank, ...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await run([...args, '--json'], { DATABASE_URL: databaseUrl })
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

/** The same, for people. */
async function runText({ databaseUrl }: Bank, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args, { DATABASE_URL: databaseUrl })
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return stdout
}

async function lastAudit({ sql }: Bank) {
  const [row] = await sql`
    select actor_kind, actor_name, action, subject_kind, detail from audit_log order by id desc limit 1`
  return row
}

test('a community and its administrator can be made, listed and helped', async () => {
  const bank = await startBank()
  expect(await runJson(bank, 'community', 'create', '--slug', 'green-valley', '--name', 'Green Valley')).toEqual({
    slug: 'green-valley',
    name: 'Green Valley',
  })
  expect(await lastAudit(bank)).toMatchObject({ actor_kind: 'command', action: 'community.created' })
  expect(await runJson(bank, 'community', 'list')).toMatchObject([
    { slug: 'green-valley', name: 'Green Valley', partner_api_enabled: true, time_zone: 'UTC' },
    { slug: 'town', name: 'Town' },
  ])

  const who = ['--email', 'ada@example.org', '--name', 'Ada']
  const admin = await runJson(bank, 'admin', 'create', '--community', 'green-valley', ...who)
  expect(admin).toEqual({
    admin_id: expect.any(Number),
    email: 'ada@example.org',
    role: 'owner',
    one_time_password: expect.stringMatching(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/),
  })
  expect(await lastAudit(bank)).toMatchObject({
    action: 'admin.added',
    subject_kind: 'admin',
    detail: { role: 'owner' },
  })

  const reset = await runJson(bank, 'admin', 'reset', '--email', 'ADA@example.org')
  expect(reset.one_time_password).toMatch(/^[a-z2-9-]{23}$/)
  expect(reset.one_time_password).not.toBe(admin.one_time_password)
  expect(await lastAudit(bank)).toMatchObject({ action: 'admin.password_reset' })

  const known = await runText(bank, 'admin', 'create', '--community', 'town', '--role', 'viewer', ...who)
  expect(known).toContain('ada@example.org is viewer of town.')
  expect(known).not.toMatch(/[a-z2-9]{5}-[a-z2-9]{5}/)
})

test('a partner can be made, changed, suspended and resumed beside a running service', async () => {
  const bank = await startBank()
  const created = await runJson(
    bank,
    'partner',
    'create',
    '--community',
    'town',
    '--name',
    'Savings Bank',
    '--rate-limit',
    '50',
  )
  expect(created).toEqual({
    partner_id: expect.any(Number),
    client_id: expect.stringMatching(/^hbc_\d+_[0-9a-f]{16}$/),
    client_secret: expect.stringMatching(/^hbs_[0-9a-f]{72}$/),
    scopes: SCOPE_NAMES,
  })
  expect(Object.keys(created)).toEqual(['partner_id', 'client_id', 'client_secret', 'scopes'])
  const partner = { partnerId: created.partner_id, clientId: created.client_id, clientSecret: created.client_secret }
  const token = await bank.token(undefined, partner)
  const status = async () => (await bank.call('/users', { token })).status
  expect(await status()).toBe(200)

  const id = `${created.partner_id}`
  const of = [id, '--community', 'town']
  await runText(
    bank,
    'partner',
    'update',
    ...of,
    '--scopes',
    'listings.read, wallet.read',
    '--allow-addresses',
    '127.0.0.0/8 ::1',
  )
  await eventually(async () => (await status()) === 403)
  expect(await lastAudit(bank)).toMatchObject({
    action: 'partner.changed',
    detail: { scopes: ['listings.read', 'wallet.read'], allowed_networks: ['127.0.0.0/8', '::1'] },
  })
  const listed = await runJson(bank, 'partner', 'list', '--community', 'town')
  expect(listed.find((entry: { partner_id: number }) => entry.partner_id === created.partner_id)).toMatchObject({
    name: 'Savings Bank',
    status: 'active',
    scopes: ['listings.read', 'wallet.read'],
    rate_limit_per_minute: 50,
    allowed_networks: ['127.0.0.0/8', '::1'],
  })
  expect(JSON.stringify(listed)).not.toMatch(/hbs_|secret/)

  expect(await runText(bank, 'partner', 'suspend', ...of)).toBe(`The partner ${id} is suspended.\n`)
  await eventually(async () => (await status()) === 401)
  expect(await lastAudit(bank)).toMatchObject({ action: 'partner.changed', detail: { status: 'suspended' } })
  await runText(bank, 'partner', 'resume', ...of)
  await eventually(async () => (await status()) === 403)
})

test('a client can be made, rotated and revoked, and the partner API switched, beside a running service', async () => {
  const bank = await startBank()
  const { partnerId } = bank.partner
  const of = ['--community', 'town', '--partner', `${partnerId}`]
  const client = await runJson(
    bank,
    'client',
    'create',
    ...of,
    '--name',
    'reports',
    '--scopes',
    'aggregates.read users.read',
  )
  expect(client).toEqual({
    partner_id: partnerId,
    client_id: expect.stringMatching(/^hbc_/),
    client_secret: expect.stringMatching(/^hbs_/),
    scopes: ['users.read', 'aggregates.read'],
  })
  expect(await lastAudit(bank)).toMatchObject({ action: 'client.created' })
  const proof = (clientSecret: string) => fetchToken(bank.url, { partnerId, clientId: client.client_id, clientSecret })
  const token = await proof(client.client_secret)

  const rotated = await runJson(bank, 'client', 'rotate', client.client_id, '--grace', 'none')
  expect(rotated).toEqual({
    client_id: client.client_id,
    client_secret: expect.stringMatching(/^hbs_/),
    grace: 'none',
  })
  expect(await lastAudit(bank)).toMatchObject({ action: 'client.rotated', detail: { grace: 'none' } })
  await eventually(() =>
    proof(client.client_secret).then(
      () => false,
      () => true,
    ),
  )
  await proof(rotated.client_secret)

  expect(await runJson(bank, 'client', 'revoke', client.client_id)).toEqual({
    client_id: client.client_id,
    status: 'revoked',
  })
  await eventually(async () => (await bank.call('/users', { token })).status === 401)
  expect(await lastAudit(bank)).toMatchObject({ action: 'client.revoked' })

  const live = await bank.token()
  const off = ['community', 'partner-api', 'off', '--community', 'town', '--reason', 'Stocktaking']
  expect(await runText(bank, ...off)).toBe('The partner API of town is off.\n')
  await eventually(async () => (await bank.call('/users', { token: live })).status === 503)
  expect(await lastAudit(bank)).toMatchObject({ action: 'partner_api.disabled', detail: { reason: 'Stocktaking' } })
  await runText(bank, 'community', 'partner-api', 'on', '--community', 'town')
  await eventually(async () => (await bank.call('/users', { token: live })).status === 200)

  const text = await bank.sql`select audit_log::text as row from audit_log`
  expect(text.map(({ row }) => row).join()).not.toContain('hbs_')
})

test('an empty database can be migrated, and commands ask for it first', async () => {
  const DATABASE_URL = await newEmptyDatabase()
  expect(await run(['community', 'list'], { DATABASE_URL })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'The database is not up to date. Run: npx hourbank migrate\n',
  })
  const names = await migrationNames()
  expect(await run(['migrate'], { DATABASE_URL })).toEqual({
    code: 0,
    stdout: `Applied ${names.join(', ')}.\n`,
    stderr: '',
  })
  expect(await run(['migrate'], { DATABASE_URL })).toEqual({
    code: 0,
    stdout: 'The database is up to date.\n',
    stderr: '',
  })
  expect(await run(['community', 'list'], { DATABASE_URL })).toMatchObject({ code: 0, stderr: '' })
})

test('whoever asks for help gets it, and openapi prints the description', async () => {
  const [all, one, openapi] = await Promise.all([
    run(['--help'], {}),
    run(['partner', 'create', '--help'], {}),
    run(['openapi'], {}),
  ])
  for (const { code, stderr } of [all, one, openapi]) expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const name of [
    'serve',
    'migrate',
    'community create',
    'admin reset',
    'partner suspend',
    'client rotate',
    'backup',
  ]) {
    expect(all.stdout).toContain(`  ${name}`)
  }
  expect(one.stdout).toContain('hourbank partner create --community SLUG --name NAME')
  expect(JSON.parse(openapi.stdout)).toEqual(await apiDescription())
})

test('what is wrong is said in one line on standard error, without a stack, and nothing is changed', async () => {
  const bank = await startBank()
  const { clientId } = bank.partner
  const town = ['--community', 'town']
  const partner = [...town, '--name', 'X']
  const [before] = await bank.sql`select count(*) from audit_log`
  const cases: [code: number, args: string[], says: string][] = [
    [2, ['nonsense'], 'There is no command nonsense.'],
    [2, ['community', 'list', '--colour'], '--colour'],
    [1, ['community', 'create', '--slug', 'x'], '--name is missing.'],
    [1, ['community', 'create', '--slug', 'town', '--name', 'Again'], 'There is a community town already.'],
    [
      1,
      ['community', 'create', '--slug', 'x', '--name', 'X', '--time-zone', 'Mars/Olympus'],
      'There is no time zone Mars/Olympus',
    ],
    [1, ['community', 'partner-api', 'off', ...town], '--reason is missing.'],
    [1, ['partner', 'create', '--community', 'nowhere', '--name', 'X'], 'There is no community nowhere.'],
    [1, ['partner', 'create', ...partner, '--scopes', 'users.read users.write'], 'There is no scope users.write.'],
    [
      1,
      ['partner', 'create', ...partner, '--allow-addresses', '10.0.0.1/8'],
      '10.0.0.1/8 has bits set beyond its prefix',
    ],
    [1, ['partner', 'create', ...partner, '--rate-limit', '0'], 'The rate limit must be a whole number from 1'],
    [1, ['partner', 'suspend', '987654', ...town], 'There is no partner 987654 in this community.'],
    [1, ['client', 'create', ...town, '--partner', '1.5'], '--partner must be a whole number.'],
    [1, ['client', 'rotate', clientId, '--grace', 'forever'], '--grace must be one of none, 1h, 24h, 7d.'],
    [1, ['client', 'revoke', 'hbc_1_0000000000000000'], 'There is no client hbc_1_0000000000000000.'],
    [1, ['admin', 'create', ...town, '--email', 'nobody', '--name', 'X'], 'nobody is not an email address.'],
    [1, ['admin', 'reset', '--email', 'nobody@example.org'], 'There is no administrator nobody@example.org.'],
  ]
  await inTurns(cases, async ([code, args, says]) => {
    const outcome = await run(args, { DATABASE_URL: bank.databaseUrl })
    const name = args.join(' ')
    expect.soft({ code: outcome.code, stdout: outcome.stdout }, name).toEqual({ code, stdout: '' })
    expect.soft(outcome.stderr, name).toContain(says)
    const lines = outcome.stderr.trimEnd().split('\n')
    // Wrong use is told how it is used, on a line of its own.
    expect.soft(lines.length, outcome.stderr).toBeLessThanOrEqual(code)
    expect.soft(outcome.stderr, name).not.toMatch(/^\s+at /m)
  })
  const [after] = await bank.sql`select count(*) from audit_log`
  expect(after).toEqual(before)
})

test('a database that cannot be used, or settings that are wrong, are one clear message and exit code 1', async () => {
  const there = new URL(await newDatabase())
  const changed = (change: Partial<URL>) => Object.assign(new URL(there), change).href
  const port = `${await freePort()}`
  const cases: [settings: Settings, says: string][] = [
    [
      { DATABASE_URL: changed({ port }) },
      'The database cannot be reached (ECONNREFUSED): connect ECONNREFUSED 127.0.0.1',
    ],
    [
      { DATABASE_URL: changed({ port, hostname: 'localhost' }) },
      `The database cannot be reached (ECONNREFUSED): connect`,
    ],
    [{ DATABASE_URL: changed({ hostname: 'nowhere.invalid' }) }, 'The database cannot be reached'],
    [{ DATABASE_URL: changed({ password: 'hunter2' }) }, 'The database refuses the connection'],
    [
      { DATABASE_URL: changed({ pathname: '/missing' }) },
      'The database refuses the connection: database "missing" does not exist',
    ],
    [
      { DATABASE_URL: there.href, SECRET_KEY: '' },
      'These settings are wrong:\n  SECRET_KEY: required with DATABASE_URL',
    ],
    [
      { DATABASE_URL: `mysql://me:hunter2@db`, PORT: 'x' },
      'These settings are wrong:\n  PORT: expected a whole number',
    ],
  ]
  await inTurns(cases, async ([settings, says]) => {
    const outcome = await run(['community', 'list'], settings)
    expect.soft({ code: outcome.code, stdout: outcome.stdout }, says).toEqual({ code: 1, stdout: '' })
    expect.soft(outcome.stderr).toContain(says)
    expect.soft(outcome.stderr).not.toMatch(/hunter2|^\s+at /m)
  })
})

async function inTurns<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const take = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, take))
}

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
  expect(outcome.stderr).toBe(`Port ${port} is taken. Stop what uses it, or choose another: PORT=3001 npm start\n`)
})
