import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import type { BackupKey } from '../src/backup/backup-keys.ts'
import { openBackup } from '../src/backup/open-backup.ts'
import { UnusableBackup } from '../src/backup/read-backup.ts'
import { connect } from '../src/postgres/connect.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'
import {
  backup,
  dump,
  fillMany,
  fillNastily,
  gzipOf,
  KEY,
  linesOf,
  newFile,
  open,
  refused,
  restore,
  sealed,
  silent,
} from './backup-files.ts'

const OTHER_KEY: BackupKey = { kind: 'secret_key', text: 'o'.repeat(32) }
const PASSPHRASE: BackupKey = { kind: 'passphrase', text: 'a passphrase of the operator' }
const DAMAGED = /is damaged: its digest does not match its content\.$/
/** The end line and the digest before it. */
const TAIL_BYTES = 24 + 32

let source: string
let before: Record<string, string[]>

beforeAll(async () => {
  source = await newDatabase()
  const sql = connect(source, { connectionsMax: 1, name: 'backup test' })
  await fillNastily(sql)
  before = await dump(sql)
  await sql.end()
})

async function write(content: Buffer): Promise<string> {
  const file = newFile()
  await writeFile(file, content)
  return file
}

async function backedUp(
  options: { key?: BackupKey; encrypt?: boolean } = {},
): Promise<{ file: string; content: Buffer }> {
  const file = newFile()
  await backup(open(source, 2), file, silent, options)
  return { file, content: await readFile(file) }
}

test.each([false, true])(
  'every changed, missing or added byte is refused before anything is written (encrypted: %s)',
  async (encrypt) => {
    const { content } = await backedUp({ encrypt })
    const start = content.indexOf('\n') + 1
    for (const place of [
      start,
      start + 10,
      Math.floor(content.length / 2),
      content.length - TAIL_BYTES - 1,
      content.length - TAIL_BYTES,
    ]) {
      const flipped = Buffer.from(content)
      flipped[place]! ^= 1
      await refused(await write(flipped), DAMAGED)
    }
    const half = Math.floor(content.length / 2)
    const swapped = Buffer.concat([
      content.subarray(0, start),
      content.subarray(half, half + 100),
      content.subarray(start + 100, half),
      content.subarray(start, start + 100),
      content.subarray(half + 100),
    ])
    expect(swapped).toHaveLength(content.length)
    await refused(await write(swapped), DAMAGED)
    // Cut out of the middle, and put in before the end.
    await refused(await write(Buffer.concat([content.subarray(0, half), content.subarray(half + 64)])), DAMAGED)
    const tail = content.subarray(-TAIL_BYTES)
    await refused(await write(Buffer.concat([content.subarray(0, -TAIL_BYTES), Buffer.from('more'), tail])), DAMAGED)
    await refused(
      await write(Buffer.concat([content, Buffer.from('more')])),
      /is cut off, or has something after its end\.$/,
    )
    await refused(await write(Buffer.concat([content, content])), DAMAGED)
    await refused(await write(content.subarray(0, -1)), /is cut off/)
    // A digest that does not match stays a refusal, whatever is accepted.
    const [flipped] = [Buffer.from(content)]
    flipped[half]! ^= 1
    await refused(await write(flipped), DAMAGED, { acceptUnverified: true })
  },
)

test('a backup of another installation is refused, and restored when that is asked for', async () => {
  const { file } = await backedUp({ key: OTHER_KEY })
  await refused(file, /was made with another SECRET_KEY, so it cannot be verified\. .*--unverified/)
  await refused(file, /there is no key yet/, { keys: [] })
  const copy = open(await newEmptyDatabase())
  const { isVerified } = await restore(copy, file, silent, { acceptUnverified: true })
  expect(isVerified).toBe(false)
  expect(await dump(copy)).toEqual(before)
  // The key before the current one verifies as well.
  const verified = await restore(open(await newEmptyDatabase()), file, silent, { keys: [KEY, OTHER_KEY] })
  expect(verified.isVerified).toBe(true)
})

test('a damaged backup of another installation is rejected even if unverified backups are accepted', async () => {
  const { content } = await backedUp({ key: OTHER_KEY })
  content[Math.floor(content.length / 2)]! ^= 1
  await refused(await write(content), /is damaged/, { acceptUnverified: true })
})

test('a backup of an older version, without a digest, is restored only unverified', async () => {
  const { content } = await backedUp()
  const file = await write(gzipOf(content))
  await refused(file, /older version and carries no digest.*--unverified/)
  const copy = open(await newEmptyDatabase())
  expect(await restore(copy, file, silent, { acceptUnverified: true })).toMatchObject({ isVerified: false })
  expect(await dump(copy)).toEqual(before)
})

test.each([KEY, PASSPHRASE])('an encrypted backup shows nothing and is restored with its key ($kind)', async (key) => {
  const { file, content } = await backedUp({ key, encrypt: true })
  expect(gzipOf(content).subarray(0, 2)).not.toEqual(Buffer.from([0x1f, 0x8b]))
  const copy = open(await newEmptyDatabase())
  await restore(copy, file, silent, { keys: [key] })
  expect(await dump(copy)).toEqual(before)
  // Twice the same is not the same file: each has its own salt.
  const again = await backedUp({ key, encrypt: true })
  expect(gzipOf(again.content).subarray(0, 64)).not.toEqual(gzipOf(content).subarray(0, 64))
})

test('an encrypted backup without its key is rejected with a message about what is missing', async () => {
  const { file } = await backedUp({ key: OTHER_KEY, encrypt: true })
  await refused(file, /encrypted with another SECRET_KEY\. Set SECRET_KEY to that one\.$/, { acceptUnverified: true })
  const locked = await backedUp({ key: PASSPHRASE, encrypt: true })
  await refused(locked.file, /made with a passphrase\. Name the file.*--passphrase-file/)
  const wrong: BackupKey = { kind: 'passphrase', text: 'another passphrase' }
  await refused(locked.file, /The passphrase is not the one/, { keys: [wrong] })
})

test('a file that is changed after it was verified restores nothing', async () => {
  const sql = open(await newDatabase())
  await fillMany(sql, 5_000)
  const file = newFile()
  await backup(sql, file, silent)
  const { length } = await readFile(file)
  const target = open(await newEmptyDatabase(), 2)
  const attempt = restore(target, file, ({ label, done }) => {
    if (label === 'verifying the file' && done === length) invertByte(file, length - TAIL_BYTES - 9)
  })
  await expect(attempt).rejects.toThrow(/is damaged/)
  expect(await target`select from pg_class where relname = 'audit_log'`).toHaveLength(0)
})

/** Synchronously, so that the file is changed before anything else reads it. */
function invertByte(file: string, at: number): void {
  const descriptor = openSync(file, 'r+')
  const byte = Buffer.alloc(1)
  readSync(descriptor, byte, 0, 1, at)
  writeSync(descriptor, Buffer.from([byte[0]! ^ 0xff]), 0, 1, at)
  closeSync(descriptor)
}

test('a file that is replaced by a shorter one with zeros after it was verified is not read as a whole one', async () => {
  // More than the streams on the way hold, after compression too.
  const file = await sealed(randomBytes(4 * 1024 * 1024).toString('latin1'))
  const content = await readFile(file)
  const start = content.indexOf('\n') + 1
  const opened = await openBackup(file, { keys: [KEY] })
  onTestFinished(() => opened.close())
  // zlib ignores zeros behind its stream, and then does not read on to the digest.
  const shorter = gzipSync('something else')
  const zeros = Buffer.alloc(content.length - start - shorter.length - TAIL_BYTES)
  const [seal, tail] = [content.subarray(0, start), content.subarray(-TAIL_BYTES)]
  await writeFile(file, Buffer.concat([seal, shorter, zeros, tail]))
  const reading = async () => {
    for await (const chunk of opened.read(silent)) expect(chunk.toString()).toBe('something else')
  }
  await expect(reading()).rejects.toThrow(UnusableBackup)
})

test('the bound of a partition is checked in linear time', async () => {
  const { file } = await backedUp()
  const text = (await linesOf(file)).join('\n')
  const hostile = text.replace("TO ('2021", `TO (${'1'.repeat(100_000)}'2021`)
  expect(hostile).not.toBe(text)
  await refused(await sealed(hostile), /has no bound that is known/)
})
