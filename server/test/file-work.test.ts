import { readdir, readFile } from 'node:fs/promises'
import { connect as connectSocket, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { connect } from '../src/postgres/connect.ts'
import { addAdmin, type TestAdmin } from './admin.ts'
import { eventually, startBank, TESTER, type Bank } from './bank.ts'
import { captureLog } from './capture-log.ts'
import { lockTable } from './lock-table.ts'
import { takeIds } from './take-ids.ts'

/** 16 MB of listings: more than fits into the buffers between the service and a caller that does not read. */
const LISTINGS = 4000
const DESCRIPTION_LENGTH = 4000

async function openRaw(bank: Bank, admin: TestAdmin, head: string): Promise<Socket> {
  const { port, host } = new URL(bank.url)
  const socket = connectSocket(Number(port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.write(`${head}\r\nhost: ${host}\r\norigin: ${bank.url}\r\ncookie: ${admin.cookie()}\r\n`)
  return socket
}

/** Sends half of a file and then nothing. */
function startUpload(bank: Bank, admin: TestAdmin): Promise<Socket> {
  return openRaw(bank, admin, 'POST /api/admin/v1/communities/town/members/import HTTP/1.1').then((socket) => {
    socket.write('content-type: text/csv\r\ncontent-length: 100000\r\n\r\nexternal_id,name\r\n')
    return socket
  })
}

/** Asks for a download and does not read it. */
function startDownload(bank: Bank, admin: TestAdmin, what: 'members' | 'listings'): Promise<Socket> {
  return openRaw(bank, admin, `GET /api/admin/v1/communities/town/${what}/export HTTP/1.1`).then((socket) => {
    socket.pause()
    socket.write('\r\n')
    return socket
  })
}

async function fileSessions(bank: Bank): Promise<number> {
  const rows = await bank.sql`
    select from pg_stat_activity where application_name = 'hourbank imports and exports' and state <> 'idle'
      and datname = current_database()`
  return rows.length
}

async function fill({ sql, communityId }: Bank): Promise<void> {
  const { id } = await addMember(sql, TESTER, communityId, { name: 'Ada' })
  await sql`insert into categories (community_id, name) values (${communityId}, 'Home')`
  const first = await takeIds(sql, communityId, 'listings', LISTINGS)
  await sql`
    insert into listings (community_id, id, member_id, type, title, description, category, visible)
    select ${communityId}, ${first}::int8 + n - 1, ${id}, 'service', 'Listing ' || n, repeat('x', ${DESCRIPTION_LENGTH}::int), 'Home', true
    from generate_series(1, ${LISTINGS}::int) n`
}

test('uploads that stall block no exports, imports or the overview', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const uploads = await Promise.all([startUpload(bank, manager), startUpload(bank, manager)])
  const exports = await Promise.all([manager.call('/members/export'), manager.call('/listings/export')])
  expect(exports.map(({ status }) => status)).toEqual([200, 200])
  for (const upload of uploads) upload.destroy()
  for (let round = 0; round < 3; round++) {
    expect((await manager.call('/members/export')).status).toBe(200)
    expect((await manager.call('/overview')).status).toBe(200)
    const body = 'external_id,name\r\nK-1,Ada\r\n'
    const headers = { 'content-type': 'text/csv' }
    expect((await manager.call('/members/import', { body, headers })).status).toBe(200)
  }
})

test('a caller that has to wait for other exports gets a message, and is served when they end', async () => {
  const bank = await startBank()
  await fill(bank)
  const manager = await addAdmin(bank, 'manager')
  const stalled = await Promise.all([
    startDownload(bank, manager, 'listings'),
    startDownload(bank, manager, 'listings'),
  ])
  await eventually(async () => (await fileSessions(bank)) === 2)

  const file = { body: 'external_id,name\r\nK-1,Ada\r\n', headers: { 'content-type': 'text/csv' } }
  const [told, inspected] = await Promise.all([
    manager.call('/members/export'),
    manager.call('/members/import/inspect', file),
  ])
  expect([told.status, inspected.status]).toEqual([503, 503])
  expect(told.headers.get('retry-after')).toBe('30')
  expect(told.body).toMatchObject({ error: 'overloaded', error_description: expect.stringContaining('exports') })
  // Meanwhile the rest of the console works.
  expect((await manager.call('/overview')).status).toBe(200)

  const waiting = manager.call('/members/export')
  for (const socket of stalled) socket.destroy()
  expect((await waiting).status).toBe(200)
  await eventually(async () => (await fileSessions(bank)) === 0)
})

test('stalled downloads of one community do not block those of others', async () => {
  const bank = await startBank()
  await fill(bank)
  const manager = await addAdmin(bank, 'manager')
  const village = await addAdmin(bank, 'manager', await bank.addCommunity('village'), 'village')
  await Promise.all([startDownload(bank, manager, 'listings'), startDownload(bank, manager, 'listings')])
  await eventually(async () => (await fileSessions(bank)) === 2)
  expect((await village.call('/members/export')).status).toBe(200)
})

test('a test community counts as the community that it was made from', async () => {
  const bank = await startBank()
  await fill(bank)
  const owner = await addAdmin(bank)
  const trialId = await bank.addCommunity('trial')
  await bank.sql`update communities set test_of = ${bank.communityId} where id = ${trialId}`
  const ofTrial = await addAdmin(bank, 'manager', trialId, 'trial')
  await Promise.all([startDownload(bank, owner, 'listings'), startDownload(bank, owner, 'listings')])
  await eventually(async () => (await fileSessions(bank)) === 2)
  expect(await ofTrial.call('/members/export')).toMatchObject({
    status: 503,
    body: { error_description: expect.stringContaining('2 other imports or exports') },
  })
})

test('an export whose caller disconnects is cancelled, even during a long statement', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const other = connect(bank.databaseUrl, { connectionsMax: 2, name: 'locker' })
  onTestFinished(() => other.end())
  const lock = await lockTable(other, 'members')
  const socket = await startDownload(bank, manager, 'members')
  await lock.awaited()
  socket.destroy()
  await eventually(async () => (await fileSessions(bank)) === 0)
  await lock.release()
  expect((await manager.call('/members/export')).status).toBe(200)
})

test('an import whose caller disconnects writes nothing', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const other = connect(bank.databaseUrl, { connectionsMax: 2, name: 'locker' })
  onTestFinished(() => other.end())
  const lock = await lockTable(other, 'members')
  const socket = await openRaw(bank, manager, 'POST /api/admin/v1/communities/town/members/import HTTP/1.1')
  const file = 'external_id,name\r\nK-1,Ada\r\n'
  socket.write(`content-type: text/csv\r\ncontent-length: ${file.length}\r\n\r\n${file}`)
  await lock.awaited()
  socket.destroy()
  await eventually(async () => (await fileSessions(bank)) === 0)
  await lock.release()
  expect(await bank.sql`select from members`).toHaveLength(0)
})

test('an uploaded file has no name, so that nothing is left of it when the process is killed', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const lock = await lockTable(bank.sql, 'members')
  const headers = { 'content-type': 'text/csv' }
  const imported = manager.call('/members/import', { body: 'external_id,name\r\nunnamed-1,Ada\r\n', headers })
  await lock.awaited()
  const folders = (await readdir(tmpdir())).filter((name) => name.startsWith('hourbank-upload-'))
  const files = folders.map((name) => readFile(join(tmpdir(), name, 'upload.csv'), 'utf8').catch(() => ''))
  // Other tests may upload something meanwhile.
  expect((await Promise.all(files)).filter((text) => text.includes('unnamed-1'))).toEqual([])
  await lock.release()
  expect((await imported).body.data).toMatchObject({ added: 1 })
})

test('HEAD of an export exports nothing', async () => {
  const { log, entries } = captureLog('warn')
  const bank = await startBank({ log })
  const owner = await addAdmin(bank)
  const token = await bank.token()
  for (const what of ['members', 'listings', 'transfers', 'audit', 'calls']) {
    const head = await owner.call(`/${what}/export`, { method: 'HEAD' })
    const { headers } = await owner.call(`/${what}/export`)
    expect([what, head.status, head.headers.get('content-length')]).toEqual([what, 200, null])
    for (const name of ['content-type', 'content-disposition']) expect(head.headers.get(name)).toBe(headers.get(name))
  }
  const exported = await bank.sql`select from audit_log where action like '%.exported'`
  expect(exported).toHaveLength(5)
  const csv = await bank.call('/wallet/credits', { method: 'HEAD', token, headers: { accept: 'text/csv' } })
  expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  expect(entries()).toEqual([])
})
