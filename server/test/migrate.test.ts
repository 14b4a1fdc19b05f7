import { createHash } from 'node:crypto'
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { appliedMigrations, isMigrated, migrate, migrationNames, NewerDatabase } from '../src/postgres/migrate.ts'
import { newDatabase, newEmptyDatabase, newLatinDatabase } from './database.ts'
import { readTemplates } from './source-templates.ts'

const SOURCE_DIR = fileURLToPath(new URL('../src/', import.meta.url))
const MIGRATIONS_DIR = fileURLToPath(new URL('../migrations/', import.meta.url))

function open(databaseUrl: string): Sql {
  const sql = connect(databaseUrl, { connectionsMax: 2, name: 'test' })
  onTestFinished(() => sql.end({ timeoutMs: 1000 }))
  return sql
}

async function tableNames(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`
  return rows.map(({ name }) => name)
}

/** The migrations of a later version: ours, and one more. */
async function laterVersion(name: string, text: string): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(MIGRATIONS_DIR, folder, { recursive: true })
  await writeFile(join(folder, `${name}.sql`), text)
  return pathToFileURL(`${folder}/`)
}

test('a database in another encoding than UTF-8 is refused before anything is made in it', async () => {
  const sql = open(await newLatinDatabase())
  await expect(migrate(sql)).rejects.toThrow(
    /^The encoding of the database is LATIN1, which lacks letters of many names\. .* create database hourbank .*'UTF8'/,
  )
  expect(await tableNames(sql)).toEqual([])
})

test('ten nodes that start at once on an empty database migrate it once', async () => {
  const databaseUrl = await newEmptyDatabase()
  const nodes = Array.from({ length: 10 }, () => open(databaseUrl))
  const applied = await Promise.all(nodes.map((sql) => migrate(sql)))
  const names = await migrationNames()
  expect(names.length).toBeGreaterThan(0)
  expect(applied.toSorted((one, other) => other.length - one.length)).toEqual([
    names,
    ...Array.from({ length: 9 }, () => []),
  ])
  expect(await appliedMigrations(nodes[0]!)).toEqual(names)
  expect(await isMigrated(nodes[0]!)).toBe(true)
  expect(await migrate(nodes[0]!)).toEqual([])
})

test('each migration has a number of its own', async () => {
  const numbers = (await migrationNames()).map((name) => name.slice(0, 4))
  expect(new Set(numbers).size).toBe(numbers.length)
  const files = (await readdir(MIGRATIONS_DIR)).filter((file) => file.endsWith('.sql'))
  expect(files.toSorted()).toEqual((await migrationNames()).map((name) => `${name}.sql`))
})

test('no migration was changed since it was added: where it has run already, nobody would notice', async () => {
  const listed = (await readFile(join(MIGRATIONS_DIR, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n')
  const found = (await migrationNames()).map(async (name) => {
    const text = await readFile(join(MIGRATIONS_DIR, `${name}.sql`))
    return `${createHash('sha256').update(text).digest('hex')}  ${name}.sql`
  })
  expect(await Promise.all(found)).toEqual(listed)
})

test('a database that is missing a migration is not up to date', async () => {
  const sql = open(await newEmptyDatabase())
  expect(await isMigrated(sql)).toBe(false)
  await migrate(sql, { upTo: '0001_foundation' })
  expect(await isMigrated(sql)).toBe((await migrationNames()).length === 1)
  expect(await migrate(sql)).toEqual((await migrationNames()).slice(1))
  expect(await isMigrated(sql)).toBe(true)
})

test('a database of a newer version is refused, and left as it is', async () => {
  const sql = open(await newDatabase())
  const later = await laterVersion('9001_later', 'create table later ()')
  expect(await migrate(sql, { directory: later })).toEqual(['9001_later'])
  const refused = migrate(sql)
  await expect(refused).rejects.toThrow(NewerDatabase)
  await expect(refused).rejects.toThrow('9001_later')
  expect(await tableNames(sql)).toContain('later')
})

test('a migration that fails leaves nothing of itself, nor of those before it', async () => {
  const broken = await laterVersion('9001_broken', 'create table half_done (); select 1 / 0')
  const fresh = open(await newEmptyDatabase())
  await expect(migrate(fresh, { directory: broken })).rejects.toThrow('division by zero')
  expect(await tableNames(fresh)).toEqual([])

  const existing = open(await newDatabase())
  const before = { tables: await tableNames(existing), applied: await appliedMigrations(existing) }
  await expect(migrate(existing, { directory: broken })).rejects.toThrow('division by zero')
  expect({ tables: await tableNames(existing), applied: await appliedMigrations(existing) }).toEqual(before)

  const fixed = await laterVersion('9001_broken', 'create table half_done ()')
  expect(await migrate(existing, { directory: fixed })).toEqual(['9001_broken'])
})

test('the hook before a change runs before it, and only if there is data to lose', async () => {
  const later = await laterVersion('9001_later', 'create table later ()')
  const calls: string[][] = []
  const sql = open(await newEmptyDatabase())
  const beforeChange = async () => void calls.push(await tableNames(sql))
  await migrate(sql, { beforeChange })
  await migrate(sql, { beforeChange })
  expect(calls).toEqual([])
  await migrate(sql, { directory: later, beforeChange })
  expect(calls).toHaveLength(1)
  expect(calls[0]).not.toContain('later')

  const sqlAgain = open(await newDatabase())
  const failing = migrate(sqlAgain, {
    directory: later,
    beforeChange: async () => Promise.reject(new Error('no room')),
  })
  await expect(failing).rejects.toThrow('no room')
  expect(await tableNames(sqlAgain)).not.toContain('later')
})

test('calls that were logged one by one keep their data, in the partition of their time', async () => {
  const sql = open(await newEmptyDatabase())
  await migrate(sql, { upTo: '0014_token_expiry' })
  await sql`create table call_log_20260302 partition of call_log for values from ('2026-03-02') to ('2026-03-09')`
  const insert = (at: string, path: string, calls: number) => sql`
    insert into call_log (community_id, at, request_id, partner_id, client_id, method, path, route, status, error,
      error_description, duration_ms, address, user_agent)
    select 1 + n % 2, ${at}::text::timestamptz + n * interval '100 milliseconds', gen_random_uuid(), 2, 3, 'GET',
      ${path}, case when ${path} <> '/nowhere' then '/users' end, 200 + n % 2, null, null, n, '2001:db8::1', 'agent'
    from generate_series(1, ${calls}::int4) n on conflict do nothing`
  const rows = () => sql`
    select community_id, at, request_id, partner_id, client_id, method, path, route, status, error, error_description,
      duration_ms, address, user_agent
    from call_log order by at, request_id`
  await insert('2026-03-02T12:00:00.050Z', '/users', 20)
  await insert('2026-03-02T12:00:00.050Z', '/users/7', 20)
  await insert('2019-01-01T00:00:00Z', '/nowhere', 3)
  const before = await rows()

  await migrate(sql)
  expect(await rows()).toEqual(before)
  expect(before).toHaveLength(43)
  // Of each path: those of two communities in two seconds, and a last one in a third.
  expect(await sql`select count(*)::int4 as groups from call_groups_20260302`).toEqual([{ groups: 10 }])
  expect(await sql`select sum(calls)::int4 as calls from call_groups_default`).toEqual([{ calls: 3 }])

  // By a node of the version before, which has not been upgraded yet.
  await insert('2026-03-03T12:00:00.050Z', '/users', 5)
  await insert('2026-03-03T12:00:00.050Z', '/nowhere', 5)
  const after = await rows()
  expect(after.slice(0, 43)).toEqual(before)
  expect(
    after
      .slice(43)
      .map(({ at, path }) => `${at} ${path}`)
      .toSorted()
      .slice(0, 3),
  ).toEqual([
    '2026-03-03T12:00:00.150000Z /nowhere',
    '2026-03-03T12:00:00.150000Z /users',
    '2026-03-03T12:00:00.250000Z /nowhere',
  ])
})

/** The tables that belong to no community, as the comment in across-communities.ts names them. */
async function globalTables(): Promise<string[]> {
  const text = await readFile(join(SOURCE_DIR, 'postgres/across-communities.ts'), 'utf8')
  const list = /global tables:([^.]*)\./.exec(text)![1]!
  return list
    .replaceAll(/\([^)]*\)|\*/g, '')
    .split(',')
    .map((name) => name.trim())
}

/** Keys of community tables that do not begin with the community. What they say of global tables cannot. */
async function keysWithoutCommunity(sql: Sql, global: string[]): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select c.relname || ': ' || k.conname as key
    from pg_class c
    join pg_constraint k on k.conrelid = c.oid and k.contype in ('p', 'f')
    left join pg_class target on target.oid = k.confrelid
    join pg_attribute first on first.attrelid = k.conrelid and first.attnum = k.conkey[1]
    left join pg_attribute target_first on target_first.attrelid = k.confrelid and target_first.attnum = k.confkey[1]
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> all (${global}::text[])
      and case
        when k.contype = 'p' then first.attname <> 'community_id'
        when target.relname = 'communities' then first.attname <> 'community_id'
        when target.relname = any (${global}::text[]) then false
        else first.attname <> 'community_id' or target_first.attname <> 'community_id'
      end
    union all
    select c.relname || ': no primary key' from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> all (${global}::text[])
      and not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p')
    order by 1`
  return rows.map(({ key }) => key)
}

test('every key of a table that belongs to a community begins with the community', async () => {
  const sql = open(await newDatabase())
  const global = await globalTables()
  expect(global).toEqual(expect.arrayContaining(['communities', 'admins', 'installation', 'schema_migrations']))
  for (const name of global) expect(await tableNames(sql), name).toContain(name)
  expect(await keysWithoutCommunity(sql, global)).toEqual([])

  // Shown to find what is wrong.
  await sql.unsafe(`
    create table no_key (community_id int8);
    create table wrong_key (id int8 primary key);
    create table wrong_order (id int8, community_id int8 references communities, primary key (id, community_id));
    create table wrong_foreign (community_id int8, id int8 references wrong_key, primary key (community_id, id))`)
  expect(await keysWithoutCommunity(sql, global)).toEqual([
    'no_key: no primary key',
    'wrong_foreign: wrong_foreign_id_fkey',
    'wrong_key: wrong_key_pkey',
    'wrong_order: wrong_order_pkey',
  ])
})

/** Where statements may span communities, or concern all tables alike. */
const ACROSS_COMMUNITIES = [
  'postgres/across-communities.ts',
  'postgres/prune-queries.ts',
  'backup/backup.ts',
  'backup/advance-numbers.ts',
  'backup/restore.ts',
  'postgres/migrate.ts',
]

/** Statements on a community's table that name no community. */
function statementsWithoutCommunity(source: string, tables: string[]): string[] {
  const touches = new RegExp(`\\b(from|join|into|update|table)\\s+(only\\s+)?(${tables.join('|')})\\b`)
  return readTemplates(source).filter((text) => touches.test(text) && !text.includes('community_id'))
}

test('every statement on a table that belongs to a community names the community', async () => {
  const sql = open(await newDatabase())
  const global = await globalTables()
  const views = await sql<{ name: string }[]>`select viewname as name from pg_views where schemaname = 'public'`
  const names = [...(await tableNames(sql)), ...views.map(({ name }) => name)]
  const tables = names.filter((name) => !global.includes(name))
  expect(tables).toEqual(expect.arrayContaining(['members', 'tokens', 'call_groups', 'call_log']))

  const files = (await readdir(SOURCE_DIR, { recursive: true })).filter((file) => file.endsWith('.ts'))
  expect(files).toEqual(expect.arrayContaining(ACROSS_COMMUNITIES))
  const statements: string[] = []
  for (const file of files.filter((name) => !ACROSS_COMMUNITIES.includes(name))) {
    const source = await readFile(join(SOURCE_DIR, file), 'utf8')
    statements.push(...readTemplates(source).filter((text) => text.includes('community_id')))
    expect.soft(statementsWithoutCommunity(source, tables), file).toEqual([])
  }
  // Shown to read the sources, and to find what is wrong.
  expect(statements.some((text) => text.includes('from members'))).toBe(true)
  const wrong = 'sql`select ${sql`id`} from members where id = ${id}`'
  const right = "sql`update members set name = 'a' where community_id = ${one} and id = ${id}`"
  const nested = 'sql`with gone as (${sql`delete from tokens`}) select 1`'
  expect(statementsWithoutCommunity(`${wrong};${right}`, tables)).toEqual([wrong.slice(4, -1)])
  expect(statementsWithoutCommunity(nested, tables)).toContain('delete from tokens')
})
