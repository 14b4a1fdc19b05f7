import { chmod, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { backup } from '../src/backup/backup.ts'
import { sortByReferences, listTables, publicName, type Table } from '../src/backup/catalogue.ts'
import { connect, isOutage, Json, type Queries, type Sql, transaction } from '../src/postgres/connect.ts'
import { openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { migrate, migrationNames } from '../src/postgres/migrate.ts'
import { UnusableBackup } from '../src/backup/read-backup.ts'
import { DatabaseNotEmpty, restore, SEQUENCE_GAP } from '../src/backup/restore.ts'
import type { Progress } from '../src/core/progress.ts'
import { eventually } from './bank.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'
import { volume } from './volume.ts'

const MIGRATIONS = new URL('../migrations/', import.meta.url)

/** Whatever has a meaning in COPY, in SQL, in JSON or in a terminal. */
const NASTY = [
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

let folder: string
let emptyUrl: Promise<string> | undefined
const opened: Sql[] = []
const silent = () => {}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hourbank-backup-test-'))
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((sql) => sql.end({ timeoutMs: 0 })))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

function open(url: string, connectionsMax = 4): Sql {
  const sql = connect(url, { connectionsMax, name: 'backup test' })
  opened.push(sql)
  return sql
}

let files = 0
function newFile(): string {
  return join(folder, `${++files}.backup`)
}

/** Migrations of this build, and some of a version that does not exist yet. */
async function laterVersion(later: Record<string, string>): Promise<URL> {
  const directory = await mkdtemp(join(folder, 'migrations-'))
  await cp(MIGRATIONS, directory, { recursive: true })
  for (const [name, text] of Object.entries(later)) await writeFile(join(directory, `${name}.sql`), text)
  return pathToFileURL(`${directory}/`)
}

/** Every row of every table as text, by another way than COPY. */
async function dump(sql: Queries): Promise<Record<string, string[]>> {
  const tables = await listTables(sql)
  const rows: Record<string, string[]> = {}
  for (const { name } of tables) {
    const columns = name === 'installation' ? 't.single, t.created_at' : 't.*'
    const found = await sql.unsafe<{ row: string }[]>(
      `select row(${columns})::text as row from ${publicName(name)} t order by 1`,
    )
    rows[name] = found.map(({ row }) => row)
  }
  return rows
}

async function tablesIn(sql: Queries): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select relname::text as name from pg_class where relnamespace = 'public'::regnamespace order by 1`
  return rows.map(({ name }) => name)
}

async function linesOf(file: string): Promise<string[]> {
  return gunzipSync(await readFile(file))
    .toString()
    .split('\n')
}

async function restored(file: string): Promise<Sql> {
  const sql = open(await newEmptyDatabase())
  await restore(sql, file, silent)
  return sql
}

/** A row or two in every table, with every kind of value that breaks careless software. */
async function fillNastily(sql: Sql): Promise<void> {
  const text = NASTY.join('|')
  const short = text.slice(0, 40)
  await sql`insert into communities (slug, name, created_at) values ('nasty', ${text}, 'infinity'), ('other', ${'\\N'}, '-infinity')`
  await sql`
    insert into admins (email, name, password_hash, password_one_time)
    values ('a@example.org', ${text}, ${text}, true), ('b@example.org', ${'\\.'}, '', false)`
  await sql`insert into community_admins (community_id, admin_id, role) values (1, 1, 'owner'), (2, 1, 'viewer')`
  await sql`
    insert into partners (community_id, name, contact, scopes, allowed_networks)
    values (1, ${'\\.'}, ${text}, ${NASTY}, '{}'), (1, 'x', '', ${['', 'NULL']}, ${NASTY})`
  await sql`
    insert into clients (community_id, partner_id, public_id, name, scopes, secret_hash, secret_last_four, previous_secret_until)
    values (1, 1, ${text}, ${'\\N'}, '{}', ${Buffer.from([...Array(256).keys()])}, ${'\\N'}, null),
      (1, 1, 'c', ${'\\.'}, '{null,"\\\\"}', '', '', 'infinity')`
  await sql`
    insert into tokens (community_id, hash, client_id, scopes, expires_at)
    values (1, ${Buffer.from('\\.\n')}, 1, '{}', 'infinity'), (1, ${Buffer.from('\n')}, 1, '{}', '0044-03-15 BC')`
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
  await sql`
    insert into members (community_id, name, email) select 1 + n % 2, 'Member ' || n, null from generate_series(1, 500) n`
  await sql`insert into members (community_id, name, email) values (2, ${text}, ${text})`
  await sql`insert into categories (community_id, name) values (1, ${short}), (1, ${'\\.'})`
  await sql`
    insert into listings (community_id, member_id, type, title, description, category, visible)
    values (1, 2, 'service', ${'\\.'}, ${text}, ${short}, true), (1, 2, 'request', ${'\\N'}, '', ${'\\.'}, false)`
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
    insert into credits (community_id, partner_id, reference, client_id, transfer_id, member_id, amount, settled_on)
    values (1, 1, ${text}, 1, 2, 2, 7, null), (1, 1, ${'\\N'}, 1, 2, 2, 7, '-infinity')`
  await sql`
    insert into credit_reversals (community_id, partner_id, reversal_reference, credit_id, transfer_id, reason)
    values (1, 1, ${text}, 1, 1, ${text}), (1, 1, ${'\\.'}, 2, 1, null)`
  await sql`insert into partner_days (community_id, partner_id, day, centihours) values (1, 1, '4000-02-29', -1)`
  await sql`
    insert into events (community_id, type, data) values (1, ${text}, ${new Json({ [text]: NASTY })}), (1, '', '"\\n"')`
}

async function nextIds(sql: Sql): Promise<number[]> {
  const [member] = await sql<{ id: number }[]>`insert into members (community_id, name) values (1, 'x') returning id`
  const [client] = await sql<{ id: number }[]>`
    insert into clients (community_id, partner_id, public_id, scopes, secret_hash, secret_last_four)
    values (1, 1, 'next', '{}', '', '') returning id`
  return [member!.id, client!.id]
}

describe('a round trip', () => {
  test('brings back every row of every table, on another server too', async () => {
    const source = open(await newDatabase())
    await fillNastily(source)
    const file = newFile()
    const made = await backup(source, file, silent, { appVersion: '1.2.3' })
    expect(made.rowsByTable).toMatchObject({ communities: 2, call_groups: 3, members: 501, installation: 1 })
    expect(made.bytes).toBe((await stat(file)).size)

    const dataDir = await mkdtemp(join(tmpdir(), 'hourbank-backup-test-server-'))
    await chmod(dataDir, 0o711) // as root the database runs as another user
    const server = await openEmbedded(dataDir, 'command')
    try {
      for (const target of [open(await newEmptyDatabase()), open(server.url)]) {
        const summary = await restore(target, file, silent)
        expect(summary).toEqual({
          createdAt: made.createdAt,
          rows: made.rows,
          rowsByTable: made.rowsByTable,
          skipped: [],
          migrated: [],
        })
        expect(await dump(target)).toEqual(await dump(source))
        // In the partition of their time, which a job had made, so that pruning goes on as before.
        expect(await target`select community_id from call_groups_2020 order by 1`).toEqual([
          { community_id: 1 },
          { community_id: 2 },
        ])
        await target.end()
      }
    } finally {
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    }
  })

  test('a backup of the copy equals the backup of the original but for epoch, sequences and time', async () => {
    const source = open(await newDatabase())
    await fillNastily(source)
    const [first, second] = [newFile(), newFile()]
    await backup(source, first, silent)
    await backup(await restored(first), second, silent)

    const [epoch] = await source<{ epoch: string }[]>`select epoch from installation`
    const comparable = async (file: string) =>
      (await linesOf(file))
        .slice(1)
        .map((line) => (line.startsWith('t\t') ? 'installation' : line))
        .filter((line) => !line.startsWith('{"sequence"'))
        .toSorted()
    expect(await comparable(second)).toEqual(await comparable(first))
    expect(await linesOf(second)).not.toContain(expect.stringContaining(epoch!.epoch))
  })

  test('is the same whatever formats the role, the database or the client prefer', async () => {
    const url = await newDatabase()
    const setting = open(url)
    await fillNastily(setting)
    const [plain, preferring] = [newFile(), newFile()]
    await backup(setting, plain, silent)
    const [{ name } = { name: '' }] = await setting<{ name: string }[]>`select current_database()::text as name`
    for (const preference of [
      `datestyle = 'German'`,
      `timezone = 'Asia/Kathmandu'`,
      `bytea_output = 'escape'`,
      `extra_float_digits = -10`,
    ]) {
      await setting.unsafe(`alter database ${name} set ${preference}`)
    }
    await backup(open(url), preferring, silent)
    expect((await linesOf(preferring)).slice(1)).toEqual((await linesOf(plain)).slice(1))
  })

  test('ids handed out after the backup are never handed out again', async () => {
    const source = open(await newDatabase())
    await fillNastily(source)
    const file = newFile()
    await backup(source, file, silent)
    const copy = await restored(file)
    expect(await nextIds(source)).toEqual([502, 3])
    expect(await nextIds(copy)).toEqual([501 + SEQUENCE_GAP, 2 + SEQUENCE_GAP])
  })

  test('renews the epoch, so that cursors from before are recognised', async () => {
    const source = open(await newDatabase())
    const file = newFile()
    await backup(source, file, silent)
    const copies = [await restored(file), await restored(file)]
    const epochs = await Promise.all(
      [source, ...copies].map(
        async (sql) => (await sql<{ epoch: string }[]>`select epoch from installation`)[0]!.epoch,
      ),
    )
    expect(new Set(epochs).size).toBe(3)
  })

  test('the copy is a database like any other: migrated, analysed, ready to be backed up', async () => {
    const source = open(await newDatabase())
    await fillNastily(source)
    const file = newFile()
    await backup(source, file, silent)
    const copy = await restored(file)
    expect(await migrate(copy)).toEqual([])
    const progress: Progress[] = []
    await backup(copy, newFile(), (step) => progress.push(step))
    const total = (await listTables(copy)).reduce((sum, table) => sum + table.estimate, 0)
    expect(progress.at(0)).toMatchObject({ done: 0, total })
    expect(progress.at(-1)).toMatchObject({ done: total, total })
  })
})

describe('while the service runs', () => {
  test('a backup shows one moment', async () => {
    const source = open(await newDatabase(), 8)
    await source`insert into communities (slug, name) values ('first', 'First')`
    await source`insert into partners (community_id, name, scopes) values (1, 'First', '{}')`
    // Between communities and partners, so that there is time for much to be written between reading the two.
    await source`
      insert into audit_log (community_id, actor_kind, actor_name, action, subject_kind)
      select 1, 'system', repeat(md5(n::text), 4), '', '' from generate_series(1, 30000) n`

    const writing = new AbortController()
    let written = 0
    const write = async (writer: number) => {
      for (let n = 0; !writing.signal.aborted; n++) {
        await transaction(source, async (tx) => {
          const [row] = await tx<{ id: number }[]>`
            insert into communities (slug, name) values (${`w${writer}-${n}`}, 'Written') returning id`
          await tx`insert into partners (community_id, name, scopes) values (${row!.id}, 'Written', '{}')`
        })
        written++
      }
    }
    const writers = [1, 2, 3].map(write)
    await eventually(() => written > 10)

    const writtenDuring: number[] = []
    const file = newFile()
    await backup(source, file, () => writtenDuring.push(written))
    writing.abort()
    await Promise.all(writers)
    expect(writtenDuring.at(-1)).toBeGreaterThan(writtenDuring.at(0)!)

    const copy = await restored(file)
    const [counts] = await copy<{ communities: number; partners: number; lonely: number }[]>`
      select (select count(*) from communities) as communities, (select count(*) from partners) as partners,
        (select count(*) from communities c where not exists (select from partners p where p.community_id = c.id)) as lonely`
    expect(counts).toEqual({ communities: counts!.partners, partners: counts!.partners, lonely: 0 })
    expect(counts!.partners).toBeGreaterThan(10)
    expect(counts!.partners).toBeLessThan(written + 1)
  })

  test('an upgrade can back up before it changes anything', async () => {
    const source = open(await newDatabase())
    const directory = await laterVersion({ '9001_more': 'create table more (id int8 primary key)' })
    const file = newFile()
    let migrated = false
    const applied = await migrate(source, {
      directory,
      beforeChange: async () => {
        await backup(source, file, silent)
        expect(migrated).toBe(false)
      },
    }).finally(() => (migrated = true))
    expect(applied).toEqual(['9001_more'])
    expect(JSON.parse((await linesOf(file))[0]!).migrations).not.toContain('9001_more')
  })

  test('a migration waits for the backup without getting in anyone’s way', async () => {
    const source = open(await newDatabase())
    await fillMany(source, volume(50_000))
    const directory = await laterVersion({ '9001_more': 'alter table members add column more text' })
    const seen: string[] = []
    let migrated: Promise<unknown> | undefined
    async function read(): Promise<void> {
      while (!seen.includes('backed up')) {
        const [row] = await source<{ waiting: boolean }[]>`
          select exists (select from pg_stat_activity
            where datname = current_database() and wait_event = 'advisory') as waiting`
        await source`select count(*) from members`
        if (row!.waiting) seen.push('read while it waits')
      }
    }
    const reading = read()
    await backup(source, newFile(), ({ label }) => {
      migrated ??= migrate(source, { directory }).then(() => seen.push('migrated'))
      if (label === 'all tables') seen.push('backed up')
    })
    await Promise.all([migrated, reading])
    expect(seen[0]).toBe('read while it waits')
    expect(seen).toContain('migrated')
  })
})

/** Names, types, references, partitions, sequences and triggers that a careless backup would trip over. */
const ODD_TABLES = `
  create table "Odd ""name"".x" (
    "Id" serial primary key,
    parent int4 references "Odd ""name"".x",
    "a.b ""c""" text,
    doubled int4 generated always as ("Id" * 2) stored,
    n numeric, f float8, d date, i interval, t time, big int8, flag boolean, bits varbit, nested text[], box int4range);
  create table zz_first (id int8 primary key);
  create table aa_list (
    kind text, id int8 generated always as identity, odd int4 references "Odd ""name"".x", primary key (kind, id)
  ) partition by list (kind);
  create table aa_list_a partition of aa_list for values in ('a');
  create table aa_list_b partition of aa_list for values in ('b') partition by list (kind);
  create table aa_list_b1 partition of aa_list_b for values in ('b');
  alter table aa_list_a add foreign key (id) references zz_first;
  create sequence "Alone" start 5 increment 10;
  create table counted (n int8);
  insert into counted values (0);
  create function count_up() returns trigger language plpgsql as
    $$ begin update counted set n = n + 1; return new; end $$;
  create trigger counts after insert on zz_first for each row execute function count_up();
  create trigger sleeps after insert on zz_first for each row execute function count_up();
  alter table zz_first disable trigger sleeps`

/** Names in the order of their tables; each is given with the names it refers to. */
function order(references: Record<string, string[]>): string[] {
  const tables = Object.entries(references).map(([name, to]): Table => {
    return { name, references: to, columns: [], partitions: [], estimate: 0 }
  })
  return sortByReferences(tables).map(({ name }) => name)
}

describe('later versions', () => {
  test('tables, columns, types and sequences of a later migration are in the backup without a change here', async () => {
    const migrations = await laterVersion({ '9001_odd': ODD_TABLES })
    const source = open(await newDatabase())
    await migrate(source, { directory: migrations })
    await source`
      insert into "Odd ""name"".x" (parent, "a.b ""c""", n, f, d, i, t, big, flag, bits, nested, box) values
        (2, ${NASTY.join('')}, 'NaN', '-0', '0044-03-15 BC', '-1 mons +2 days 03:04:05.000006', '24:00', ${'-9223372036854775808'}::text::int8,
          true, '101', '{{a,null},{"\\\\",""}}', '[1,5)'),
        (2, ${'\\N'}, 1.10, 5e-324, 'infinity', null, '00:00:00.000001', 1, null, '', '{}', 'empty')`
    await source`insert into zz_first values (1), (2), (3)`
    await source`insert into aa_list (kind, odd) values ('a', 1), ('b', 2), ('b', 1)`
    await source`select nextval('"Alone"'), nextval('"Alone"')`
    const file = newFile()
    const made = await backup(source, file, silent)
    expect(made.rowsByTable).toMatchObject({ 'Odd "name".x': 2, aa_list: 3, zz_first: 3, counted: 1 })
    expect(made.rowsByTable).not.toHaveProperty('aa_list_a')

    const copy = open(await newEmptyDatabase())
    await restore(copy, file, silent, { migrations })
    expect(await dump(copy)).toEqual(await dump(source))
    const [next] = await copy`
      select nextval('"Alone"') as alone, nextval(pg_get_serial_sequence('"Odd ""name"".x"', 'Id')) as odd,
        nextval(pg_get_serial_sequence('aa_list', 'id')) as list`
    expect(next).toEqual({ alone: 15 + 10 * SEQUENCE_GAP, odd: 2 + SEQUENCE_GAP, list: 3 + SEQUENCE_GAP })
    // The triggers kept still meanwhile, and are as awake as they were.
    await copy`insert into zz_first values (4)`
    expect(await copy`select n from counted`).toEqual([{ n: 4 }])
  })

  test('a backup of an older version is restored, then migrated', async () => {
    const source = open(await newDatabase())
    await fillNastily(source)
    const file = newFile()
    await backup(source, file, silent)
    const migrations = await laterVersion({
      // Comes before a migration that the backup has: the schema goes where the backup stood, not where its last one leads.
      '0000_early': 'create table early (id int8 generated by default as identity primary key)',
      '9001_more': `
        alter table members add column greeting text;
        update members set greeting = 'Hello ' || name;
        insert into members (community_id, name) values (1, 'Made by a migration')`,
    })
    const copy = open(await newEmptyDatabase())
    const summary = await restore(copy, file, silent, { migrations })
    expect(summary.migrated).toEqual(['0000_early', '9001_more'])
    expect(await copy`select count(*) as n from members where greeting = 'Hello ' || name`).toEqual([{ n: 501 }])
    expect(await copy`select id from members where greeting is null`).toEqual([{ id: 501 + SEQUENCE_GAP }])
    expect(await copy`insert into early default values returning id`).toEqual([{ id: 1 + SEQUENCE_GAP }])
    expect(await migrate(copy, { directory: migrations })).toEqual([])
  })

  test('a backup of a newer version is refused', async () => {
    const source = open(await newDatabase())
    await migrate(source, { directory: await laterVersion({ '9001_more': 'create table more (id int8)' }) })
    const file = newFile()
    await backup(source, file, silent)
    await refused(file, /newer version of Hourbank \(9001_more\)/)
  })

  test('a table that no migration makes is refused, or left out when asked', async () => {
    const source = open(await newDatabase())
    await fillNastily(source)
    const before = await dump(source)
    await source`create table of_the_operator (id serial, member int8)`
    await source`insert into of_the_operator (member) values (1), (2)`
    const file = newFile()
    const made = await backup(source, file, silent)
    expect(made.rowsByTable).toMatchObject({ of_the_operator: 2 })
    await refused(file, /the table of_the_operator, which no migration/)

    const copy = open(await newEmptyDatabase())
    const summary = await restore(copy, file, silent, { skipUnknown: true })
    expect(summary.skipped).toEqual(['the table of_the_operator', 'the sequence of_the_operator_id_seq'])
    expect(summary.rows).toBe(made.rows - 2)
    expect(await dump(copy)).toEqual(before)
  })

  test('tables come after those they refer to, and a circle is named', () => {
    expect(order({ a: ['a', 'c'], b: [], c: ['b', 'elsewhere'] })).toEqual(['b', 'c', 'a'])
    expect(() => order({ a: ['b'], b: ['c'], c: ['d'], d: ['b'], e: [] })).toThrow(/in a circle.*: b, c, d\.$/)
  })

  test('tables that refer to each other in a circle are an error that leaves no file behind', async () => {
    const source = open(await newDatabase())
    await source`create table chicken (id int8 primary key)`
    await source`create table egg (id int8 primary key, of int8 references chicken)`
    await source`alter table chicken add column of int8 references egg`
    const file = newFile()
    await expect(backup(source, file, silent)).rejects.toThrow(/circle.*: chicken, egg\./)
    expect(await leftBeside(file)).toEqual([])
  })
})

async function leftBeside(file: string): Promise<string[]> {
  return (await readdir(folder)).map((name) => join(folder, name)).filter((name) => name.startsWith(file))
}

/** Restoring the file fails with these words, and leaves the database as empty as it was, and usable. */
async function refused(file: string, message: RegExp): Promise<void> {
  // Always the same one: nothing that was refused left a trace.
  emptyUrl ??= newEmptyDatabase()
  const sql = open(await emptyUrl, 1)
  const error = await restore(sql, file, silent).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(UnusableBackup)
  expect((error as Error).message).toMatch(message)
  expect(await tablesIn(sql)).toEqual([])
  await sql.end()
}

async function changed(content: Buffer): Promise<string> {
  const file = newFile()
  await writeFile(file, content)
  return file
}

describe('what cannot be restored', () => {
  const TOKENS = /^\{"table":"tokens"[^]*?\n\\\.\n/m
  let good: Buffer

  beforeAll(async () => {
    const sql = connect(await newDatabase(), { connectionsMax: 1, name: 'backup test' })
    await fillNastily(sql)
    const file = newFile()
    await backup(sql, file, silent)
    await sql.end()
    good = await readFile(file)
  })

  async function edited(edit: (text: string) => string): Promise<string> {
    const text = gunzipSync(good).toString()
    const after = edit(text)
    expect(after).not.toBe(text)
    return changed(gzipSync(after))
  }

  test.each([0, 1, 9, 20, 0.1, 0.5, 0.9, -9, -5, -1])('a file cut off at %d', async (at) => {
    const end = Math.abs(at) < 1 ? Math.floor(at * good.length) : at
    await refused(await changed(good.subarray(0, end)), /is cut off/)
  })

  test.each([20, 0.1, 0.5, 0.9, -8, -1])('a file with a wrong byte at %d', async (at) => {
    const content = Buffer.from(good)
    const place = Math.abs(at) < 1 ? Math.floor(at * good.length) : at < 0 ? good.length + at : at
    content[place]! ^= 0x10
    await refused(await changed(content), /is (damaged|cut off)/)
  })

  test.each([
    ['something else', Buffer.from('PK\u0003\u0004 and so on')],
    ['something else, compressed', gzipSync('hello\nworld\n')],
    ['a single endless line, compressed', gzipSync(Buffer.alloc(5_000_000, 'x'))],
    ['JSON of another kind, compressed', gzipSync('{"format":"another"}\n')],
    ['JSON that is null, compressed', gzipSync('null\n')],
  ])('%s', async (_name, content) => {
    await refused(await changed(content), /is not a backup of Hourbank's/)
  })

  test('a format of the future', async () => {
    await refused(await edited((text) => text.replace('"version":1', '"version":2')), /newer version/)
  })

  test('a file without its end line', async () => {
    await refused(await edited((text) => text.replace(/\{"end".*\n$/, '')), /is cut off/)
  })

  test('a file with something behind its end line', async () => {
    await refused(await edited((text) => `${text}{}\n`), /goes on behind its end/)
  })

  test('a row taken out', async () => {
    await refused(await edited((text) => text.replace(/^.*\tMember 7\t.*\n/m, '')), /500 rows of members.* 501/)
  })

  test('a row put in', async () => {
    await refused(
      await edited((text) => text.replace(/^1(\t.*\tMember 8\t.*\n)/m, (row, rest) => `${row}2${rest}`)),
      /502 rows of members.* 501/,
    )
  })

  test('a table taken out', async () => {
    await refused(await edited((text) => text.replace(TOKENS, '')), /the table tokens is missing/)
  })

  test('a table twice', async () => {
    await refused(await edited((text) => text.replace(TOKENS, '$&$&')), /a line that means nothing/)
  })

  test('a value that is none, in the last row of a short table', async () => {
    await refused(
      await edited((text) => text.replace(/\tother\t/, '\tnot a slug\t')),
      /the table communities does not fit: .*communities_slug_form/,
    )
  })

  test('a reference to nothing', async () => {
    await refused(
      await edited((text) => text.replace(/^(\{"table":"community_admins".*\n)1/m, '$11234')),
      /the table community_admins does not fit: .*foreign key/,
    )
  })

  test('a value of another type; the message says where it stands, but not what it is', async () => {
    await refused(
      await edited((text) => text.replace(/^2\t\d+\tMember 1\t/m, '2\tsecret\tMember 1\t')),
      /the table members does not fit: invalid input syntax for type bigint \(line 1, column id\)\.$/,
    )
  })

  test.each(['migrated', 'with somebody else’s table'])('a database that is not empty: %s', async (kind) => {
    const sql = open(kind === 'migrated' ? await newDatabase() : await newEmptyDatabase())
    await sql`create table somebody_elses as select 1 as id`
    const before = [await tablesIn(sql), await dump(sql)]
    const file = await changed(good)
    await expect(restore(sql, file, silent)).rejects.toThrow(DatabaseNotEmpty)
    expect([await tablesIn(sql), await dump(sql)]).toEqual(before)
  })

  test('a partition whose bound is more than a bound', async () => {
    await refused(
      await edited((text) => text.replace("TO ('2021", "TO ('2021-01-01'); drop table members; --")),
      /the partition call_groups_2020 has no bound that is known/,
    )
  })

  test('a file that does not exist, and one that is a folder', async () => {
    await refused(join(folder, 'none'), /cannot be read: ENOENT/)
    await refused(folder, /cannot be read: EISDIR/)
  })

  test('a connection lost half-way leaves the database empty', async () => {
    const source = open(await newDatabase())
    await fillMany(source, volume(20_000))
    const file = newFile()
    await backup(source, file, silent)
    const target = open(await newEmptyDatabase())
    const progress: Progress[] = []
    let cut: Promise<void> | undefined
    await expect(
      restore(target, file, (step) => {
        progress.push(step)
        if (step.label === 'audit_log') cut ??= cutCopies(target)
      }),
    ).rejects.toSatisfy(isOutage)
    await cut
    expect(await tablesIn(target)).toEqual([])
    await restore(target, file, (step) => progress.push(step))
    const { size } = await stat(file)
    expect(progress.at(-1)).toEqual({ done: size, total: size, label: 'finishing', unit: 'bytes' })
  })
})

describe('the file', () => {
  test('is readable by its owner only, and never overwrites another unless asked', async () => {
    const sql = open(await newDatabase())
    const file = newFile()
    await backup(sql, file, silent)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const before = await readFile(file)
    await expect(backup(sql, file, silent)).rejects.toThrow(/exists already/)
    expect(await readFile(file)).toEqual(before)
    await backup(sql, file, silent, { overwrite: true, appVersion: 'second' })
    expect((await linesOf(file))[0]).toContain('"app_version":"second"')
    expect(await leftBeside(file)).toEqual([file])
  })

  test('two backups under one name: one is made, the other refused', async () => {
    const sql = open(await newDatabase())
    const file = newFile()
    const results = await Promise.allSettled([backup(sql, file, silent), backup(sql, file, silent)])
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await leftBeside(file)).toEqual([file])
    await restored(file)
  })

  test('is not made from an empty database, nor in a folder that is not there', async () => {
    const file = newFile()
    await expect(backup(open(await newEmptyDatabase()), file, silent)).rejects.toThrow(/no tables of Hourbank/)
    expect(await leftBeside(file)).toEqual([])
    const astray = join(folder, 'none', 'file')
    await expect(backup(open(await newDatabase()), astray, silent)).rejects.toThrow(`cannot be written to ${astray}`)
  })

  test.each([1, 4])('a backup given up half-way leaves no file and a working pool of %d', async (connectionsMax) => {
    const sql = open(await newDatabase(), connectionsMax)
    await fillMany(sql, volume(50_000))
    const file = newFile()
    const giveUp = new AbortController()
    const attempt = backup(sql, file, ({ done }) => done > volume(10_000) && giveUp.abort(), { signal: giveUp.signal })
    await expect(attempt).rejects.toThrow(/abort/i)
    expect(await leftBeside(file)).toEqual([])
    const working = range(8).map(() => sql`select count(*) from members`)
    expect(await Promise.all(working)).toHaveLength(8)
    expect(
      await sql`select state from pg_stat_activity where state like 'idle in%' and datname = current_database()`,
    ).toEqual([])
    await backup(sql, file, silent)
  })

  test('a backup whose connection is lost leaves no file', async () => {
    const sql = open(await newDatabase())
    await fillMany(sql, volume(50_000))
    const file = newFile()
    let cut: Promise<void> | undefined
    const attempt = backup(sql, file, ({ done }) => done > volume(5_000) && (cut ??= cutCopies(sql)))
    await expect(attempt).rejects.toSatisfy(isOutage)
    await cut
    expect(await leftBeside(file)).toEqual([])
    await backup(sql, file, silent)
  })
})

/** As a crash of the database would. */
async function cutCopies(sql: Sql): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'copy %' and pid <> pg_backend_pid()`
}

function range(length: number): number[] {
  return [...Array(length).keys()]
}

async function fillMany(sql: Sql, rows: number, textLength = 384): Promise<void> {
  await sql`insert into communities (slug, name) values ('many', 'Many')`
  await sql`
    insert into audit_log (community_id, actor_kind, actor_name, action, subject_kind, detail)
    select 1, 'system', md5(n::text), 'a', 'b', jsonb_build_object('text', repeat(md5((n * 7)::text), ${textLength / 32}::int))
    from generate_series(1, ${rows}::int) n`
}

describe('memory', () => {
  /** The rows are twice as much, so that holding them would show. */
  const GROWTH_BYTES_MAX = 80 * 1024 * 1024
  const ROWS = volume(300_000)
  /** Fewer rows are longer ones: the bytes are always the same. */
  const TEXT_LENGTH = 384 * (300_000 / ROWS)

  test(`stays flat over ${ROWS} rows, there and back`, async () => {
    const source = open(await newDatabase(), 1)
    await fillMany(source, 2_000)
    await backup(source, newFile(), silent) // what is loaded and compiled once does not count
    await source`truncate communities cascade`
    await source`alter table communities alter column id restart`
    await fillMany(source, ROWS, TEXT_LENGTH)

    const start = process.memoryUsage()
    let growth = 0
    const measure = () => {
      const now = process.memoryUsage()
      growth = Math.max(growth, now.rss - start.rss, now.heapUsed + now.external - start.heapUsed - start.external)
    }
    const file = newFile()
    const { rows } = await backup(source, file, measure)
    expect(rows).toBeGreaterThan(ROWS)
    const backupGrowth = growth
    growth = 0
    await restore(open(await newEmptyDatabase(), 1), file, measure)
    expect(backupGrowth).toBeLessThan(GROWTH_BYTES_MAX)
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX)
  })
})

test('migrations have the names a backup lists', async () => {
  const source = open(await newDatabase())
  const file = newFile()
  await backup(source, file, silent)
  expect(JSON.parse((await linesOf(file))[0]!).migrations).toEqual(await migrationNames())
})
