import { expect, test } from 'vitest'
import { backupCommands } from '../src/cli/backup.ts'
import type { Command } from '../src/cli/command.ts'
import { blaming, serviceSetting } from '../src/cli/database-setting.ts'
import { explain } from '../src/cli/explain.ts'
import { migrateCommand } from '../src/cli/migrate.ts'
import { readConfig, type Config } from '../src/config.ts'
import { backup, KEY, newFile, open, silent } from './backup-files.ts'
import { run } from './commands.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'
import { newRole } from './new-role.ts'
import { testOnOneServer } from './one-server.ts'

const [backupCommand, restoreCommand] = backupCommands as [Command, Command]

const outOfSpace = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })

/** What a command tells the user if it fails like this with these settings. */
const told = (config: Partial<Config>, failure: Error) =>
  blaming(serviceSetting({ ...readConfig({}), ...config }), () => Promise.reject(failure)).catch(explain)

/** What a command that fails tells the user. */
async function complaintOf(command: Command, config: Partial<Config>, ...positionals: string[]): Promise<string> {
  const input = { config: { ...readConfig({}), secretKey: KEY.text, ...config }, values: {}, positionals }
  const error = await command.run(input).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeDefined()
  return explain(error)
}

const withWrongPassword = (url: string) => Object.assign(new URL(url), { username: 'stranger', password: 'x' }).href

test('a restore as a role that may not create tables asks for the owner, and works with it', async () => {
  const file = newFile()
  await backup(open(await newDatabase()), file, silent)
  const ownerUrl = await newEmptyDatabase()
  const role = await newRole(ownerUrl)
  await role.owner.unsafe(`grant pg_read_all_stats to ${role.name}`)
  const complaint = await complaintOf(restoreCommand, { databaseUrl: role.url }, file)
  expect(complaint).toBe(
    'The database role of DATABASE_URL lacks a permission: permission denied for schema public. ' +
      'Set MIGRATION_DATABASE_URL to the role that owns the database and run this again.',
  )
  const settings = { SECRET_KEY: KEY.text, DATABASE_URL: role.url, MIGRATION_DATABASE_URL: ownerUrl }
  expect(await run(['restore', file], settings)).toMatchObject({ code: 0, stdout: expect.stringContaining('Restored') })
})

test('a database role or address that cannot be used is reported with its own setting', async () => {
  const databaseUrl = await newDatabase()
  const wrong = withWrongPassword(databaseUrl)
  const gone = Object.assign(new URL(databaseUrl), { port: '1' }).href
  const rejection = /^The database rejects the connection: .*stranger.*\. Check (\w+)\.$/
  const settingIn = (text: string) => rejection.exec(text)?.[1] ?? text

  expect(settingIn(await complaintOf(migrateCommand, { databaseUrl: wrong }))).toBe('DATABASE_URL')
  expect(settingIn(await complaintOf(migrateCommand, { databaseUrl, migrationUrl: wrong }))).toBe(
    'MIGRATION_DATABASE_URL',
  )
  // The grants for the service's role are tried as that role.
  expect(settingIn(await complaintOf(migrateCommand, { databaseUrl: wrong, migrationUrl: databaseUrl }))).toBe(
    'DATABASE_URL',
  )
  // A backup is made as the service.
  expect(
    settingIn(await complaintOf(backupCommand, { databaseUrl: wrong, migrationUrl: databaseUrl }, newFile())),
  ).toBe('DATABASE_URL')
  const replacing = { databaseUrl: await newEmptyDatabase(), replacedDatabaseUrl: wrong }
  expect(settingIn(await complaintOf(restoreCommand, replacing, newFile()))).toBe('REPLACED_DATABASE_URL')
  expect(await complaintOf(migrateCommand, { databaseUrl, migrationUrl: gone })).toMatch(
    /^The database cannot be reached .* Check MIGRATION_DATABASE_URL, and that the server is running\.$/,
  )

  const role = await newRole(databaseUrl)
  expect(await complaintOf(backupCommand, { databaseUrl: role.url }, newFile())).toMatch(
    /^The database role of DATABASE_URL lacks a permission: .*\. Run: npx hourbank migrate, with MIGRATION_DATABASE_URL/,
  )
  expect(await complaintOf(migrateCommand, { databaseUrl, migrationUrl: role.url })).toMatch(
    /^The database role of MIGRATION_DATABASE_URL lacks a permission: .* Set MIGRATION_DATABASE_URL to the role that owns/,
  )
})

testOnOneServer(
  'Citus has no triggers.',
  'a full disk of the database server is not told as one of DATA_DIR',
  async () => {
    const databaseUrl = await newDatabase()
    await open(databaseUrl).unsafe(`
    create function reject() returns trigger language plpgsql as $$ begin
      raise exception 'could not extend file "base/1/1": No space left on device' using errcode = 'disk_full';
    end $$;
    create trigger full_disk before insert on communities for each row execute function reject()`)
    const slug = ['community', 'create', '--slug', 'town', '--name', 'Town', '--time-zone', 'UTC']
    expect(await run(slug, { SECRET_KEY: KEY.text, DATABASE_URL: databaseUrl })).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'The disk of the database server is full: could not extend file "base/1/1": No space left on device. ' +
        'Free space on it, and try again.\n',
    })
  },
)

test('a full disk is told as one of DATA_DIR only if the database is there', async () => {
  expect(await told({}, outOfSpace())).toBe(
    'The disk is full. Free space on it, or set DATA_DIR to a folder on another one, and start again.',
  )
  expect(await told({ databaseUrl: 'postgres://db/hourbank' }, outOfSpace())).toBe(
    'The disk is full: ENOSPC: no space left on device, write. Free space on it, and try again.',
  )
})
