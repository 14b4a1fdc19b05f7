import { chmod, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { freePort, startBank } from './bank.ts'
import { newDataDir } from './data-dir.ts'
import { newDatabase } from './database.ts'
import { type Settings, run } from './commands.ts'

const AT_ONCE = 4

test('an error is one line on standard error, without a stack, and nothing is changed', async () => {
  const bank = await startBank()
  const { clientId } = bank.partner
  const town = ['--community', 'town']
  const partner = [...town, '--name', 'X']
  const scopes = ['--scopes', 'users.read']
  const [before] = await bank.sql`select count(*) from audit_log`
  const cases: [code: number, args: string[], says: string][] = [
    [2, ['nonsense'], 'There is no command nonsense.'],
    [2, ['community', 'list', '--colour'], '--colour'],
    [1, ['community', 'create', '--slug', 'x'], '--name is missing.'],
    [1, ['community', 'create', '--slug', 'town', '--name', 'Again'], 'There is a community town already.'],
    [
      1,
      ['community', 'create', '--slug', 'x', '--name', 'X', '--time-zone', 'Mars/Olympus'],
      'Mars/Olympus cannot be the time zone',
    ],
    [1, ['community', 'partner-api', 'off', ...town], '--reason is missing.'],
    [1, ['partner', 'create', '--community', 'nowhere', '--name', 'X'], 'There is no community nowhere.'],
    [1, ['partner', 'create', ...partner], 'Give the scopes that the partner needs'],
    [1, ['partner', 'create', ...partner, '--scopes', 'users.read users.write'], 'There is no scope users.write.'],
    [
      1,
      ['partner', 'create', ...partner, ...scopes, '--allow-addresses', '10.0.0.1/8'],
      '10.0.0.1/8 has bits set beyond its prefix',
    ],
    [
      1,
      ['partner', 'create', ...partner, ...scopes, '--rate-limit', '0'],
      'The rate limit must be a whole number from 1',
    ],
    [1, ['partner', 'suspend', '987654', ...town], 'There is no partner 987654 in this community.'],
    [1, ['client', 'create', ...town, '--partner', '1.5'], '--partner must be a whole number.'],
    [1, ['client', 'rotate', clientId, '--grace', 'forever'], '--grace must be one of none, 1h, 24h, 7d.'],
    [1, ['client', 'expiry', clientId, '--expires-at', 'tomorrow'], '--expires-at must be a time such as'],
    [1, ['client', 'expiry', clientId, '--expires-at', '2020-01-01'], 'The credentials must expire in the future.'],
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

test('a command rejects a word that it does not expect, and changes nothing', async () => {
  const bank = await startBank()
  const settings = { DATABASE_URL: bank.databaseUrl }
  const [before] = await bank.sql`select count(*) from audit_log`
  const { stdout: help } = await run(['--help'], settings)
  // `listen` is a command of the SDK, with arguments of its own.
  const usages = [...help.matchAll(/^ {2}([a-z].*)$/gm)]
    .map(([, usage]) => usage!)
    .filter((line) => !line.startsWith('listen '))
  expect(usages).toContain('client revoke CLIENT_ID [--json]')
  const commands = usages.map((usage) => [...usage.split(/\[|--/)[0]!.trim().split(' '), 'surplus'])
  commands.push(
    ['client', 'revoke', bank.partner.clientId, 'surplus', '--json'],
    ['demo', '--members', '10', 'surplus'],
  )
  await inTurns(commands, async (args) => {
    const outcome = await run(args, settings)
    expect.soft({ code: outcome.code, stdout: outcome.stdout }, args.join(' ')).toEqual({ code: 2, stdout: '' })
    expect.soft(outcome.stderr).toMatch(/^Unexpected argument surplus\.\nUsage: hourbank /)
  })
  const [after] = await bank.sql`select count(*) from audit_log`
  expect(after).toEqual(before)
})

test('without a database, commands fail instead of reporting on a new one; only migrate and restore create it', async () => {
  const dataDir = await newDataDir()
  const before = await stat(dataDir)
  const file = join(dataDir, 'nightly.backup')
  const commands = [
    ['community', 'list'],
    ['backup', file],
    ['ledger', 'verify', '--json'],
    ['demo'],
    ['cluster', 'status'],
  ]
  await inTurns(commands, async (args) => {
    expect.soft(await run(args, { DATA_DIR: dataDir }), args.join(' ')).toEqual({
      code: 1,
      stdout: '',
      stderr: `There is no database in ${dataDir}. Set DATABASE_URL or DATA_DIR as for the service, or create one: npm start\n`,
    })
  })
  expect(await readdir(dataDir)).toEqual([])
  expect((await stat(dataDir)).mode).toBe(before.mode)
  expect(await run(['migrate'], { DATA_DIR: dataDir })).toMatchObject({ code: 0, stderr: '' })
  expect(await run(['community', 'list'], { DATA_DIR: dataDir })).toMatchObject({ code: 0, stderr: '' })
})

test('restore --replacing rejects a folder that is not a data folder of Hourbank, and leaves it as it is', async () => {
  const [target, other] = [await newDataDir(), await newDataDir()]
  await writeFile(join(other, 'letter'), 'Dear Ada')
  await chmod(other, 0o755)
  const replacing = () => run(['restore', 'any.backup', '--replacing', other], { DATA_DIR: target })
  expect(await replacing()).toEqual({
    code: 1,
    stdout: '',
    stderr: `There is no database of Hourbank's in ${other}.\n`,
  })
  expect(await readdir(other)).toEqual(['letter'])
  expect((await stat(other)).mode & 0o777).toBe(0o755)

  // A database that was never migrated.
  await (await openEmbedded(other, 'command')).close()
  expect(await replacing()).toEqual({ code: 1, stdout: '', stderr: `${other} has no tables of Hourbank's.\n` })
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
    [
      { DATABASE_URL: changed({ search: '?sslmode=verify-full&sslrootcert=/nowhere/ca.pem' }) },
      '/nowhere/ca.pem does not exist.',
    ],
    // A server of tests may ask for no password.
    [
      { DATABASE_URL: changed(there.password ? { password: 'hunter2' } : { username: 'stranger' }) },
      'The database rejects the connection',
    ],
    [
      { DATABASE_URL: changed({ pathname: '/missing' }) },
      'The database rejects the connection: database "missing" does not exist',
    ],
    [
      { DATABASE_URL: there.href, SECRET_KEY: '' },
      'These settings are invalid:\n  SECRET_KEY: required with DATABASE_URL',
    ],
    [
      { DATABASE_URL: `mysql://me:hunter2@db`, PORT: 'x' },
      'These settings are invalid:\n  PORT: expected a whole number',
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
