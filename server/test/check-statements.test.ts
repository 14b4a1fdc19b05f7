import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../src/postgres/connect.ts'
import { findUnrestricted, reportUnrestricted } from './check-statements.ts'
import { newDatabase } from './database.ts'

/** The statements of the whole run are checked when it ends; here is what is found. */
test('a statement that PostgreSQL would run across communities is found', async () => {
  const sql = connect(await newDatabase(), { connectionsMax: 1, name: 'test' })
  onTestFinished(() => sql.end())
  const file = join(await mkdtemp(join(tmpdir(), 'statements-')), 'statements.jsonl')
  const [{ version }] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int4 as version`
  const wrong = [
    // Names the community, but reads those of all.
    'select community_id, name from members where id = $1',
    'update accounts set balance = 0 where member_id = $1 returning community_id',
    'select m.name from members m join accounts a on a.member_id = m.id where m.community_id = $1',
    'declare cursor_1 no scroll cursor for select community_id from credits',
  ]
  const right = [
    'begin',
    'select name from members where community_id = $1 and id = $2',
    'select m.name from members m join accounts a on a.community_id = $1 and a.member_id = m.id where m.community_id = $1',
    'select email from admins where id = $1',
    // Of across-communities.ts.
    'select distinct community_id from events where position is null',
  ]
  await writeFile(file, [...wrong, ...right].map((text) => `${JSON.stringify(text)}\n`).join(''))
  const { found } = await findUnrestricted(sql, file)
  const tables = found.map((line) => line.split(':')[0])
  expect(tables).toEqual(version < 160_000 ? [] : ['members', 'accounts', 'accounts', 'credits'])
})

test('a run in which such a statement was sent fails', () => {
  const { exitCode } = process
  const log = vi.spyOn(console, 'log').mockReturnValue()
  const error = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => {
    process.exitCode = exitCode
    log.mockRestore()
    error.mockRestore()
  })
  reportUnrestricted({ checked: 2, found: [] })
  expect(process.exitCode).toBe(exitCode)
  reportUnrestricted({ checked: 2, found: ['members: select name from members'] })
  expect(process.exitCode).toBe(1)
  expect(error).toHaveBeenCalledWith(expect.stringContaining('select name from members'))
})
