import { expect, test } from 'vitest'
import { backupCommands } from '../src/cli/backup.ts'
import type { Command } from '../src/cli/command.ts'
import { explain } from '../src/cli/explain.ts'
import { migrateCommand } from '../src/cli/migrate.ts'
import { readConfig, type Config } from '../src/config.ts'
import { backup, KEY, newFile, open, silent } from './backup-files.ts'
import { run } from './commands.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'
import { newRole } from './new-role.ts'

const [backupCommand, restoreCommand] = backupCommands as [Command, Command]

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
