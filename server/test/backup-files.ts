import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished } from 'vitest'
import { sortByReferences, listTables, publicName, type Table } from '../src/backup/catalogue.ts'
import { quoteName } from '../src/postgres/statement.ts'
import { connect, Json, type Queries, type Sql } from '../src/postgres/connect.ts'
import { UnusableBackup } from '../src/backup/read-backup.ts'
import { backup as makeBackup, type BackupOptions } from '../src/backup/backup.ts'
import type { BackupKey } from '../src/backup/backup-keys.ts'
import { restore as restoreBackup, type RestoreOptions } from '../src/backup/restore.ts'
import { sealBackup } from '../src/backup/seal-backup.ts'
import type { Progress } from '../src/core/progress.ts'
import { newEmptyDatabase } from './database.ts'
import { takeIds } from './take-ids.ts'

const MIGRATIONS = new URL('../migrations/', import.meta.url)

/** Whatever has a meaning in COPY, in SQL, in JSON or in a terminal. */
export const NASTY = [
  '\\',
  '\\\\',
  '\\.',
  '\\N',
  'NULL',
  '\t',
  '\n\\.\n',
  '\r\n',
  '\r',
  '\b\f\v',
  '\u0001\u007F',
  "'; drop table members; --",
  '"{},',
  '👩‍👩‍👧‍👦 ‮ Ω ﷽ \u2028',
  '{"end":true,"rows":{}}',
]

export const silent = () => {}

export const KEY: BackupKey = { kind: 'secret_key', text: 'k'.repeat(32) }

/** With the key of this installation unless another is given. */
export function backup(
  sql: Sql,
  file: string,
  onProgress: (step: Progress) => void,
  options: Partial<BackupOptions> = {},
) {
  return makeBackup(sql, file, onProgress, { key: KEY, ...options })
}

export function restore(
  sql: Sql,
  file: string,
  onProgress: (step: Progress) => void,
  options: Partial<RestoreOptions> = {},
) {
  return restoreBackup(sql, file, onProgress, { keys: [KEY], ...options })
}

/** The gzip stream of a backup that is not encrypted. */
export function gzipOf(content: Buffer): Buffer {
  const end = Buffer.from('\nend of hourbank-backup\n')
  expect(content.subarray(-end.length)).toEqual(end)
  return content.subarray(content.indexOf('\n') + 1, -end.length - 32)
}

/** A file with this text and the right digest, as somebody could make it who has the key. */
export async function sealed(text: string): Promise<string> {
  const file = newFile()
  async function* gzip() {
    yield gzipSync(text)
  }
  await writeFile(file, sealBackup(KEY, false, gzip()))
  return file
}

/** Removed with the temporary folder of the run. */
export const folder = mkdtempSync(join(tmpdir(), 'backup-'))

export function open(url: string, connectionsMax = 4): Sql {
  const sql = connect(url, { connectionsMax, name: 'backup test' })
  onTestFinished(() => sql.end({ timeoutMs: 0 }))
  return sql
}

let files = 0

export function newFile(): string {
  return join(folder, `${++files}.backup`)
}

/** Migrations of this build, and some of a version that does not exist yet. */
export async function laterVersion(later: Record<string, string>): Promise<URL> {
  const directory = await mkdtemp(join(folder, 'migrations-'))
  await cp(MIGRATIONS, directory, { recursive: true })
  for (const [name, text] of Object.entries(later)) await writeFile(join(directory, `${name}.sql`), text)
  return pathToFileURL(`${directory}/`)
}

/** A restore renews the epoch, and moves counters and versions on so that no number is issued twice. */
export const MOVED_ON: Record<string, string[]> = {
  installation: ['epoch'],
  id_counters: ['last_id'],
  accounts: ['version'],
  members: ['version'],
  listings: ['version'],
}

/** Every row of every table as text, by another way than COPY. */
export async function dump(sql: Queries): Promise<Record<string, string[]>> {
  const tables = await listTables(sql)
  const rows: Record<string, string[]> = {}
  for (const { name, columns: all } of tables) {
    const columns = all.filter((column) => !MOVED_ON[name]?.includes(column)).map((column) => `t.${quoteName(column)}`)
    const found = await sql.unsafe<{ row: string }[]>(
      `select row(${columns})::text as row from ${publicName(name)} t order by 1`,
    )
    rows[name] = found.map(({ row }) => row)
  }
  return rows
}

export async function tablesIn(sql: Queries): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select relname::text as name from pg_class where relnamespace = 'public'::regnamespace order by 1`
  return rows.map(({ name }) => name)
}

export async function linesOf(file: string): Promise<string[]> {
  return gunzipSync(gzipOf(await readFile(file)))
    .toString()
    .split('\n')
}

export async function restored(file: string): Promise<Sql> {
  const sql = open(await newEmptyDatabase())
  await restore(sql, file, silent)
  return sql
}

/** A row or two in every table, with every kind of value that breaks careless software. */
export async function fillNastily(sql: Sql): Promise<void> {
  const text = NASTY.join('|')
  const short = text.slice(0, 40)
  await sql`insert into communities (slug, name, created_at) values ('nasty', ${text}, 'infinity'), ('other', ${'\\N'}, '-infinity')`
  await sql`
    insert into admins (email, name, password_hash, password_one_time)
    values ('a@example.org', ${text}, ${text}, false), ('b@example.org', ${'\\.'}, '', false)`
  await sql`insert into community_admins (community_id, admin_id, role) values (1, 1, 'owner'), (2, 1, 'viewer')`
  await sql`
    insert into partners (community_id, name, contact, scopes, allowed_networks)
    values (1, ${'\\.'}, ${text}, ${NASTY}, '{}'), (1, 'x', '', ${['', 'NULL']}, ${NASTY})`
  await sql`
    insert into clients (community_id, partner_id, public_id, name, scopes, secret_hash, secret_last_four, previous_secret_until)
    values (1, 1, ${text}, ${'\\N'}, '{}', ${Buffer.from([...Array(256).keys()])}, ${'\\N'}, null),
      (1, 1, 'c', ${'\\.'}, '{null,"\\\\"}', '', '', 'infinity')`
  await sql`
    insert into audit_log (community_id, actor_kind, actor_name, action, subject_kind, detail)
    values (1, 'system', ${text}, '', '', ${new Json({ [text]: NASTY, deep: { null: null, big: 1e300 } })}),
      (2, 'admin', '', '', '', 'null'), (2, 'admin', '', '', '', '"\\\\."')`
  await sql`
    create table call_groups_2020 partition of call_groups for values from ('2020-01-01') to ('2021-01-01')`
  await sql`
    insert into call_log (community_id, at, request_id, method, path, status, duration_ms, address, user_agent)
    values (1, '2020-06-01', gen_random_uuid(), 'GET', ${text}, 200, 0.1, '2001:db8::1/64', ${text}),
      (1, now(), gen_random_uuid(), '', '', -1, 'NaN', null, ''),
      (2, '2020-06-01', gen_random_uuid(), '', '', 1, 'Infinity', '10.0.0.0/8', null)`
  for (const id of [1, 2]) await takeIds(sql, id, 'members', 250)
  // A restore adds the counters that have no row yet, so all have one here for the copy to be the same.
  for (const id of [1, 2]) for (const kind of ['listings', 'subscriptions'] as const) await takeIds(sql, id, kind, 0)
  for (const partnerId of [1, 2]) await takeIds(sql, 1, 'credits', 0, partnerId)
  await sql`
    insert into members (community_id, id, name, email)
    select 1 + n % 2, (n + 1) / 2, 'Member ' || n, null from generate_series(1, 500) n`
  await sql`
    insert into members (community_id, id, name, email) values (2, ${await takeIds(sql, 2, 'members')}, ${text}, ${text})`
  const [listing, credit] = [await takeIds(sql, 1, 'listings', 2), await takeIds(sql, 1, 'credits', 2, 1)]
  await sql`insert into categories (community_id, name) values (1, ${short}), (1, ${'\\.'})`
  await sql`
    insert into listings (community_id, id, member_id, type, title, description, category, visible)
    values (1, ${listing}, 2, 'service', ${'\\.'}, ${text}, ${short}, true), (1, ${listing + 1}, 2, 'request', ${'\\N'}, '', ${'\\.'}, false)`
  await sql`insert into removals (community_id, type, resource_id) values (1, 'user', 9007199254740991)`
  await sql`insert into erasures (community_id, member_id, erased_at) values (1, 2, '-infinity')`
  await sql`
    insert into accounts (community_id, kind, member_id, partner_id, balance)
    values (1, 'member', 2, null, -5), (1, 'partner', null, 1, 0)`
  await sql`
    insert into transfers (community_id, id, kind, debit_account_id, credit_account_id, amount, reverses_id, made_by_kind, occurred_on)
    values (1, 1, 'reversal', 1, 2, 7, 2, 'system', 'infinity'), (1, 2, 'exchange', 2, 1, 7, null, 'system', '0044-03-15 BC')`
  await sql`insert into transfer_notes (community_id, transfer_id, note) values (1, 1, ${text}), (1, 2, '')`
  await sql`
    insert into credits (community_id, partner_id, reference, id, client_id, transfer_id, member_id, amount, settled_on)
    values (1, 1, ${text}, ${credit}, 1, 2, 2, 7, null), (1, 1, ${'\\N'}, ${credit + 1}, 1, 2, 2, 7, '-infinity')`
  await sql`
    insert into credit_reversals (community_id, partner_id, reversal_reference, credit_id, transfer_id, reason)
    values (1, 1, ${text}, 1, 1, ${text}), (1, 1, ${'\\.'}, 2, 1, null)`
  await sql`insert into partner_days (community_id, partner_id, day, centihours) values (1, 1, '4000-02-29', -1)`
  await sql`
    insert into events (community_id, type, data) values (1, ${text}, ${new Json({ [text]: NASTY })}), (1, '', '"\\n"')`
}

/** Names in the order of their tables; each is given with the names it refers to. */
export function order(references: Record<string, string[]>): string[] {
  const tables = Object.entries(references).map(([name, to]): Table => {
    return { name, references: to, columns: [], partitions: [], estimate: 0 }
  })
  return sortByReferences(tables).map(({ name }) => name)
}

export async function leftBeside(file: string): Promise<string[]> {
  return (await readdir(folder)).map((name) => join(folder, name)).filter((name) => name.startsWith(file))
}

/** Restoring the file fails with these words, and leaves the database as empty as it was, and usable. */
export async function refused(file: string, message: RegExp, options: Partial<RestoreOptions> = {}): Promise<void> {
  const sql = open(await newEmptyDatabase(), 1)
  const error = await restore(sql, file, silent, options).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(UnusableBackup)
  expect((error as Error).message).toMatch(message)
  expect(await tablesIn(sql)).toEqual([])
  await sql.end()
}

const END_TRANSACTIONS = `
  import pg from 'pg'
  const client = new pg.Client(process.argv[1])
  await client.connect()
  await client.query(\`
    select pg_terminate_backend(pid, 60000) from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()\`)
  await client.end()`

/** As a crash of the database would. Nothing else happens meanwhile: the work in question cannot end before. */
export function endTransactions(databaseUrl: string): void {
  const program = ['--input-type=module', '--eval', END_TRANSACTIONS, databaseUrl]
  execFileSync(process.execPath, program, { cwd: import.meta.dirname })
}

export async function fillMany(sql: Sql, rows: number, textLength = 384): Promise<void> {
  await sql`insert into communities (slug, name) values ('many', 'Many')`
  await sql`
    insert into audit_log (community_id, actor_kind, actor_name, action, subject_kind, detail)
    select 1, 'system', md5(n::text), 'a', 'b', jsonb_build_object('text', repeat(md5((n * 7)::text), ${textLength / 32}::int))
    from generate_series(1, ${rows}::int) n`
}
