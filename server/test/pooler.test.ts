import { expect, onTestFinished, test } from 'vitest'
import { explain } from '../src/cli/explain.ts'
import { migrateCommand } from '../src/cli/migrate.ts'
import { readConfig } from '../src/config.ts'
import { connect } from '../src/postgres/connect.ts'
import { KEY, open } from './backup-files.ts'
import { run } from './commands.ts'
import { newDatabase } from './database.ts'
import { freePort } from './free-port.ts'
import { startPgBouncer } from './pgbouncer.ts'

/** It passes on names of prepared statements to whichever session is free. */
async function startOldPooler(databaseUrl: string) {
  const withParameter = await startPgBouncer(databaseUrl)
  return { withParameter, without: withParameter.replace('?prepare=false', '') }
}

function connectOnce(url: string) {
  const sql = connect(url, { connectionsMax: 1, name: 'test' })
  onTestFinished(() => sql.end({ timeoutMs: 0 }))
  return sql
}

const failureOf = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  )

test('prepared statements that a pooler mixes up say which parameter the address needs', async () => {
  const { without } = await startOldPooler(await newDatabase())
  const [one, other] = [connectOnce(without), connectOnce(without)]
  const ask = (sql: typeof one) => sql`select 1 as asked`
  await ask(one)
  const exists = await failureOf(ask(other))
  expect(exists).toMatchObject({ code: '42P05', message: expect.stringMatching(/already exists; .*\?prepare=false/) })
  // While another client holds the session with the statement, the pooler takes one without it.
  await connectOnce(without).begin('', async (tx) => {
    await tx.unsafe('select 1')
    const missing = await failureOf(one.begin('', async (own) => void (await own`select 1 as asked`)))
    expect(missing).toMatchObject({ code: '26000', message: expect.stringMatching(/not exist; .*\?prepare=false/) })
    for (const error of [exists, missing]) {
      expect(explain(error)).toMatch(/^The database cannot be used: prepared statement .*\. Check DATABASE_URL, and /)
      expect(explain(error)).not.toContain('\n')
    }
  })
})

test('a migration through such a pooler names MIGRATION_DATABASE_URL', async () => {
  const databaseUrl = await newDatabase()
  const { without, withParameter } = await startOldPooler(databaseUrl)
  const migrateAt = (migrationUrl: string) =>
    failureOf(
      migrateCommand.run({
        config: { ...readConfig({}), secretKey: KEY.text, databaseUrl, migrationUrl },
        values: {},
        positionals: [],
      }),
    )
  await migrateAt(without)
  // The pooler has kept the session, with the statements of the first command in it.
  expect(explain(await migrateAt(without))).toMatch(/prepare=false.*\. Check MIGRATION_DATABASE_URL, and /)
  expect(await migrateAt(withParameter)).toBeUndefined()
})

test('the service does not start on such a pooler without the parameter', async () => {
  const databaseUrl = await newDatabase()
  const { without } = await startOldPooler(databaseUrl)
  const settings = { SECRET_KEY: KEY.text, DATABASE_URL: without, MIGRATION_DATABASE_URL: databaseUrl }
  const { code, stdout, stderr } = await run(['serve'], {
    ...settings,
    PORT: `${await freePort()}`,
    LOG_LEVEL: 'silent',
  })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    /^The database cannot be used: prepared statement .*\?prepare=false.* Check DATABASE_URL, and .*\n$/,
  )
  await expect(open(databaseUrl)`select from communities`).resolves.toHaveLength(0)
})
