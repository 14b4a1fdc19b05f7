import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { connect, isOutage } from '../src/postgres/connect.ts'
import { DatabaseNotEmpty } from '../src/backup/restore.ts'
import type { Progress } from '../src/core/progress.ts'
import { isCluster } from './citus-nodes.ts'
import { newDatabase, newEmptyDatabase, newLatinDatabase } from './database.ts'
import { volume } from './volume.ts'
import {
  backup,
  restore,
  silent,
  folder,
  open,
  newFile,
  dump,
  tablesIn,
  fillNastily,
  refused,
  gzipOf,
  sealed,
  endTransactions,
  fillMany,
} from './backup-files.ts'

async function changed(content: Buffer): Promise<string> {
  const file = newFile()
  await writeFile(file, content)
  return file
}

describe('what cannot be restored', () => {
  const TOKENS = /^\{"table":"tokens"[^]*?\n\\\.\n/m
  let good: Buffer

  beforeAll(async () => {
    const sql = connect(await newDatabase(), { connectionsMax: 2, name: 'backup test' })
    await fillNastily(sql)
    const file = newFile()
    await backup(sql, file, silent)
    await sql.end()
    good = await readFile(file)
  })

  async function edited(edit: (text: string) => string): Promise<string> {
    const text = gunzipSync(gzipOf(good)).toString()
    const after = edit(text)
    expect(after).not.toBe(text)
    return sealed(after)
  }

  test.each([0, 1, 9, 20, 0.1, 0.5, 0.9, -9, -5, -1])('a file cut off at %d', async (at) => {
    const end = Math.abs(at) < 1 ? Math.floor(at * good.length) : at
    await refused(await changed(good.subarray(0, end)), /is cut off/)
  })

  test.each([40, 100, 0.1, 0.5, 0.9, -30, -1])('a file with a wrong byte at %d', async (at) => {
    const content = Buffer.from(good)
    const place = Math.abs(at) < 1 ? Math.floor(at * good.length) : at < 0 ? good.length + at : at
    content[place]! ^= 0x10
    await refused(await changed(content), /is (damaged|cut off)|another SECRET_KEY/)
  })

  test.each([
    ['something else', Buffer.from('PK\u0003\u0004 and so on')],
    ['something else, compressed', gzipSync('hello\nworld\n')],
    ['a single endless line, compressed', gzipSync(Buffer.alloc(5_000_000, 'x'))],
    ['JSON of another kind, compressed', gzipSync('{"format":"another"}\n')],
    ['JSON that is null, compressed', gzipSync('null\n')],
  ])('%s', async (_name, content) => {
    await refused(await changed(content), /is not a backup of Hourbank's/, { acceptUnverified: true })
  })

  test('a format of the future', async () => {
    await refused(await edited((text) => text.replace('"version":2', '"version":3')), /newer version/)
  })

  test('an invalid time of the backup', async () => {
    const file = await edited((text) => text.replace(/"created_at":"[^"]*"/, '"created_at":"yesterday"'))
    await refused(file, /its first line is incomplete/)
  })

  test('a file without its end line', async () => {
    await refused(await edited((text) => text.replace(/\{"end".*\n$/, '')), /is cut off/)
  })

  test('a file with data after its end line', async () => {
    await refused(await edited((text) => `${text}{}\n`), /there is data after its end/)
  })

  test('a row taken out', async () => {
    await refused(await edited((text) => text.replace(/^.*\tMember 7\t.*\n/m, '')), /500 rows of members.* 501/)
  })

  test('a row put in', async () => {
    await refused(
      await edited((text) => text.replace(/^1\t\d+(\tMember 8\t.*\n)/m, (row, rest) => `${row}1\t9999${rest}`)),
      /502 rows of members.* 501/,
    )
  })

  test('a table taken out', async () => {
    await refused(await edited((text) => text.replace(TOKENS, '')), /the table tokens is missing/)
  })

  test('a table twice', async () => {
    await refused(await edited((text) => text.replace(TOKENS, '$&$&')), /a line has no meaning/)
  })

  test('an invalid value in the last row of a short table', async () => {
    await refused(
      await edited((text) => text.replace(/\tother\t/, '\tnot a slug\t')),
      /the table communities does not fit: .*communities_slug_form/,
    )
  })

  test('a reference to nothing', async () => {
    await refused(
      await edited((text) => text.replace(/^(\{"table":"community_admins".*\n)\d/m, '$11234')),
      /the table community_admins does not fit: .*foreign key/,
    )
  })

  test('a value of another type; the message says where it stands, but not what it is', async () => {
    await refused(
      await edited((text) => text.replace(/^2\t\d+\tMember 1\t/m, '2\tsecret\tMember 1\t')),
      // On Citus the rows of a table come in the order of its shards.
      isCluster()
        ? /the table members does not fit: invalid input syntax for type bigint \(line \d+, column id\)\.$/
        : /the table members does not fit: invalid input syntax for type bigint \(line 1, column id\)\.$/,
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

  test('a database that cannot store every letter, which is not the fault of the file', async () => {
    const sql = open(await newLatinDatabase())
    const error = await restore(sql, await changed(good), silent).catch((reason: Error) => reason)
    expect((error as Error).message).toMatch(/^The encoding of the database is LATIN1/)
    expect(await tablesIn(sql)).toEqual([])
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

  test.each(['verifying the file', 'audit_log', 'finishing'])(
    'a restore given up at "%s" leaves the database empty',
    async (label) => {
      const target = open(await newEmptyDatabase())
      const giveUp = new AbortController()
      const attempt = restore(target, await changed(good), (step) => step.label === label && giveUp.abort(), {
        signal: giveUp.signal,
      })
      await expect(attempt).rejects.toThrow(/abort/i)
      expect(await tablesIn(target)).toEqual([])
    },
  )

  test('a connection lost half-way leaves the database empty', async () => {
    const source = open(await newDatabase())
    await fillMany(source, volume(20_000))
    const file = newFile()
    await backup(source, file, silent)
    const targetUrl = await newEmptyDatabase()
    const target = open(targetUrl)
    const progress: Progress[] = []
    let isCut = false
    await expect(
      restore(target, file, (step) => {
        progress.push(step)
        if (step.label !== 'audit_log' || isCut) return
        isCut = true
        endTransactions(targetUrl)
      }),
    ).rejects.toSatisfy(isOutage)
    expect(await tablesIn(target)).toEqual([])
    await restore(target, file, (step) => progress.push(step))
    const { size } = await stat(file)
    expect(progress.at(-1)).toEqual({ done: size, total: size, label: 'finishing', unit: 'bytes' })
  })
})
