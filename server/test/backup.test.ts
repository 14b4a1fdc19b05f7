import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listTables } from '../src/backup/catalogue.ts'
import { type Sql, transaction } from '../src/postgres/connect.ts'
import { openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { SEQUENCE_GAP } from '../src/backup/advance-numbers.ts'
import type { Progress } from '../src/core/progress.ts'
import { eventually } from './bank.ts'
import { isCluster } from './citus-nodes.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'
import {
  backup,
  restore,
  silent,
  open,
  newFile,
  laterVersion,
  dump,
  linesOf,
  MOVED_ON,
  restored,
  fillNastily,
  fillMany,
} from './backup-files.ts'
import { takeIds } from './take-ids.ts'

async function nextIds(sql: Sql): Promise<number[]> {
  const [member] = await sql<
    { id: number }[]
  >`insert into members (community_id, id, name) values (1, ${await takeIds(sql, 1, 'members')}, 'x') returning id`
  const [client] = await sql<{ id: number }[]>`
    insert into clients (community_id, partner_id, public_id, scopes, secret_hash, secret_last_four)
    values (1, 1, 'next', '{}', '', '') returning id`
  return [member!.id, client!.id]
}

const COUNTERS = 'select last_id as n from id_counters order by community_id, counted, partner_id'
const WALLETS = "select version as n from accounts where kind = 'member' order by community_id, id"
const MEMBERS = 'select version as n from members order by community_id, id'
const LISTINGS = 'select version as n from listings order by community_id, id'

/** How far each number that the statement reads is beyond the same one in the original. */
async function moves(source: Sql, target: Sql, statement: string): Promise<number[]> {
  const [before, after] = [
    await source.unsafe<{ n: number }[]>(statement),
    await target.unsafe<{ n: number }[]>(statement),
  ]
  expect(before.length).toBeGreaterThan(0)
  expect(after.length).toBe(before.length)
  return after.map(({ n }, row) => n - before[row]!.n)
}

/** The lines of a backup without what a restore moves on. */
async function comparable(file: string): Promise<string[]> {
  let columns: string[] = []
  let moved: string[] = []
  const lines = (await linesOf(file)).slice(1).map((line) => {
    if (!line.startsWith('{"table"')) {
      const values = line.split('\t')
      return values.length === columns.length ? values.filter((_, n) => !moved.includes(columns[n]!)).join('\t') : line
    }
    const entry = JSON.parse(line) as { table: string; columns: string[] }
    columns = entry.columns
    moved = MOVED_ON[entry.table] ?? []
    return line
  })
  return lines.filter((line) => !line.startsWith('{"sequence"')).toSorted()
}

/** The nodes of a cluster send their rows in any order. */
async function rowsOf(file: string): Promise<string[]> {
  const rows = (await linesOf(file)).slice(1)
  return isCluster() ? rows.toSorted() : rows
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
          isVerified: true,
          rows: made.rows,
          rowsByTable: made.rowsByTable,
          skipped: [],
          migrated: [],
        })
        expect(await dump(target)).toEqual(await dump(source))
        // All ids and versions of wallets move by one gap, versions of members and listings by another.
        const [counters, wallets] = [await moves(source, target, COUNTERS), await moves(source, target, WALLETS)]
        expect(new Set([...counters, ...wallets]).size).toBe(1)
        expect(counters[0]).toBeGreaterThanOrEqual(SEQUENCE_GAP)
        const versions = [await moves(source, target, MEMBERS), await moves(source, target, LISTINGS)].flat()
        expect(new Set(versions).size).toBe(1)
        expect(versions[0]).toBeGreaterThanOrEqual(SEQUENCE_GAP)
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
    expect(await rowsOf(preferring)).toEqual(await rowsOf(plain))
  })

  test('ids handed out after the backup are never handed out again', async () => {
    const source = open(await newDatabase())
    await fillNastily(source)
    const file = newFile()
    await backup(source, file, silent)
    const copy = await restored(file)
    expect(await nextIds(source)).toEqual([251, 3])
    const [member, client] = await nextIds(copy)
    expect(member! - 251).toBeGreaterThanOrEqual(SEQUENCE_GAP)
    expect(client! - 2).toBe(member! - 251)
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
        (select count(*) from communities c where not exists (select 1 from partners p where p.community_id = c.id)) as lonely`
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
    await fillMany(source, 50_000)
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
