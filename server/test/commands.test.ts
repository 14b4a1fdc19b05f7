import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { apiDescriptions } from '../src/cli/describe.ts'
import { migrationNames } from '../src/postgres/migrate.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { callNode, eventually, fetchToken, freePort, startBank, type Bank } from './bank.ts'
import { COMMAND } from './command-line.ts'
import { run, SECRET_KEY, start } from './commands.ts'
import { isServerRunning, newDataDir } from './data-dir.ts'
import { newEmptyDatabase } from './database.ts'

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
    existing_account: false,
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

  const again = await run(['admin', 'create', '--community', 'town', ...who], { DATABASE_URL: bank.databaseUrl })
  expect(again).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'ada@example.org is an administrator of this community already. An owner can change the role in the console, ' +
      'under Community. If this person cannot sign in, run: npx hourbank admin reset --email ada@example.org\n',
  })
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
    '--scopes',
    SCOPE_NAMES.join(' '),
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

  const expiry = ['client', 'expiry', client.client_id, '--expires-at']
  const expires_at = '2099-12-31T17:00:00.000000Z'
  expect(await runJson(bank, ...expiry, '2099-12-31T18:00+01:00')).toEqual({ client_id: client.client_id, expires_at })
  expect(await lastAudit(bank)).toMatchObject({ action: 'client.expiry_changed', detail: { expires_at } })
  expect(await runJson(bank, ...expiry, 'never')).toEqual({ client_id: client.client_id, expires_at: null })

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

test('a command runs as a user id without a name, which the audit log then shows', async ({ skip }) => {
  skip(process.getuid?.() !== 0, 'Only root can run a command as another user.')
  const { databaseUrl, sql } = await startBank()
  const args = [COMMAND, 'community', 'create', '--slug', 'container', '--name', 'Container']
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, SECRET_KEY }
  const user = { uid: 54_321, gid: 54_321, cwd: '/' }
  const started = await promisify(execFile)(process.execPath, ['--version'], user).catch(() => undefined)
  skip(started === undefined, 'Other users cannot run this Node.js.')
  await promisify(execFile)(process.execPath, args, { env, ...user })
  const [row] = await sql`select actor_name from audit_log where action = 'community.created' order by id desc limit 1`
  expect(row).toEqual({ actor_name: 'uid 54321' })
})

test('if nobody reads the output, the service and commands still close their database before they end', async () => {
  const dataDir = await newDataDir()
  const settings = { DATA_DIR: dataDir, PORT: `${await freePort()}`, DEMO: 'off' }
  const startUnread = (...args: string[]) => {
    const child = start(args, settings)
    child.stdout!.destroy()
    return child
  }
  const service = startUnread('serve')
  await eventually(() => {
    if (service.exitCode !== null) throw new Error(service.printed().stderr)
    return service.printed().stderr.includes('"msg":"serving"')
  })
  expect((await callNode(`http://127.0.0.1:${settings.PORT}`, '/readyz')).status).toBe(200)
  service.kill('SIGTERM')
  const outcome = await service.outcome
  expect({ code: outcome.code, hasFailed: outcome.stderr.includes('EPIPE') }).toEqual({ code: 0, hasFailed: false })
  for (const name of ['migrate', 'openapi']) {
    expect(await startUnread(name).outcome, name).toEqual({ code: 1, stdout: '', stderr: '' })
  }
  expect(await isServerRunning(dataDir)).toBe(false)
})

test.skipIf(process.platform !== 'linux')('output that does not fit on the disk is an error', async () => {
  const toFull = promisify(execFile)('sh', ['-c', 'exec "$@" >/dev/full', 'sh', process.execPath, COMMAND, 'openapi'])
  await expect(toFull).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The output could not .*ENOSPC.*\n$/),
  })
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

test('--help prints help, and openapi prints the description', async () => {
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
  expect(JSON.parse(openapi.stdout)).toEqual((await apiDescriptions()).partner)
})
