import { createSocket, type RemoteInfo } from 'node:dgram'
import dns from 'node:dns'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSender } from '../src/delivery/send.ts'
import { guardedLookup } from '../src/outbound/addresses.ts'
import { createLookUp, type LookUpOptions } from '../src/outbound/look-up.ts'
import { startReceiver } from './receiver.ts'

const A = 1
const CNAME = 5
const AAAA = 28
const NO_ERROR = 0
const SERVER_FAILURE = 2
const NO_SUCH_NAME = 3
const TIMEOUT_MS = 500

interface NameRecord {
  type: number
  /** Without it, that of the question. */
  owner?: Buffer
  data: Buffer
}

interface Reply {
  code?: number
  records?: NameRecord[]
}

const v4 = (text: string): NameRecord => ({ type: A, data: Buffer.from(text.split('.').map(Number)) })
const v6 = (groups: number[]): NameRecord => {
  const data = Buffer.alloc(16)
  groups.forEach((group, n) => data.writeUInt16BE(group, n * 2))
  return { type: AAAA, data }
}
const encodeName = (name: string) =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ])

/** A name server (RFC 1035 section 4); without a reply, it never answers. */
async function startNameServer(replyTo: (name: string, type: number) => Reply | undefined) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const labels: string[] = []
    let at = 12
    for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    const name = labels.join('.').toLowerCase()
    asked.push(name)
    const reply = replyTo(name, query.readUInt16BE(at + 1))
    if (!reply) return
    const { code = NO_ERROR, records = [] } = reply
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | code, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    const answers = records.map(({ type, owner = Buffer.from([0xc0, 12]), data }) => {
      const fields = Buffer.alloc(10)
      fields.writeUInt16BE(type, 0)
      fields.writeUInt16BE(1, 2)
      fields.writeUInt16BE(data.length, 8)
      return Buffer.concat([owner, fields, data])
    })
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...answers]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  const { port } = socket.address() as AddressInfo
  const lookUp = (options: Partial<LookUpOptions> = {}) =>
    createLookUp({
      allowPrivateTargets: false,
      nameServers: [`127.0.0.1:${port}`],
      hostsFile: '/nonexistent',
      timeoutMs: TIMEOUT_MS,
      ...options,
    })
  return { asked, lookUp }
}

function hostsFile(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'hourbank-hosts-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'hosts'), text)
  return join(dir, 'hosts')
}

/** The system's look-up, as on a machine that knows every name; and the names that it was asked for. */
function serveSystemNames(address: string): string[] {
  const asked: string[] = []
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(((name: string, _options: object, done: Function) => {
    asked.push(name)
    process.nextTick(() => done(null, [{ address, family: 4 }]))
  }) as typeof dns.lookup)
  onTestFinished(() => spy.mockRestore())
  return asked
}

test('names whose server does not answer delay no other receiver', async () => {
  const receiver = await startReceiver()
  let isAwake = false
  const server = await startNameServer((name, type) => {
    if (name.endsWith('.dead.example')) return isAwake ? { code: SERVER_FAILURE } : undefined
    return { records: type === A ? [v4('127.0.0.1')] : [] }
  })
  const sender = createSender({
    resolve: server.lookUp({ allowPrivateTargets: true, timeoutMs: 14_000 }),
    allowPrivateTargets: true,
    ca: receiver.ca,
  })
  onTestFinished(() => sender.close())
  let failed = 0
  const dead = Array.from({ length: 20 }, async (_, n) => {
    const outcome = await sender.send(`https://h${n}.dead.example/`, {}, '{}')
    failed += 1
    return outcome
  })
  expect(await sender.send(receiver.url, {}, '{}')).toMatchObject({ ok: true })
  // Only the system knows this one.
  expect(await sender.send(receiver.url.replace('receiver.test', 'localhost'), {}, '{}')).toMatchObject({ ok: true })
  expect(failed).toBe(0)
  isAwake = true
  for (const outcome of await Promise.all(dead)) expect(outcome).toMatchObject({ ok: false, errorKind: 'dns' })
})

test('the addresses of both families are found, also behind another name', async () => {
  const other = encodeName('other.example')
  const server = await startNameServer((_name, type) => ({
    records: [
      { type: CNAME, data: other },
      { ...(type === A ? v4('93.184.216.34') : v6([0x2606, 0x2800, 0x220, 1, 0, 0, 0, 1])), owner: other },
    ],
  }))
  expect(await server.lookUp()('hooks.example')).toEqual([
    { address: '93.184.216.34', family: 4 },
    { address: '2606:2800:220:1::1', family: 6 },
  ])
})

test.each([
  ['has none', { records: [] }],
  ['fails', { code: SERVER_FAILURE }],
  ['is never answered', undefined],
])('one family suffices if the other %s', async (_how, reply) => {
  const only4 = await startNameServer((_name, type) => (type === A ? { records: [v4('93.184.216.34')] } : reply))
  expect(await only4.lookUp()('hooks.example')).toEqual([{ address: '93.184.216.34', family: 4 }])
  const only6 = await startNameServer((_name, type) => (type === AAAA ? { records: [v6([0x2a00, 1])] } : reply))
  expect(await only6.lookUp()('hooks.example.')).toEqual([{ address: '2a00:1::', family: 6 }])
})

test.each([
  ['does not exist', { code: NO_SUCH_NAME }, 'ENOTFOUND'],
  ['has no address', { records: [] }, 'ENOTFOUND'],
  ['cannot be looked up now', { code: SERVER_FAILURE }, 'EAI_AGAIN'],
  ['is never answered', undefined, 'EAI_AGAIN'],
])('a name that %s is a failure of the name', async (_what, reply, code) => {
  const server = await startNameServer(() => reply)
  const systemNames = serveSystemNames('93.184.216.34')
  const lookup = guardedLookup(server.lookUp(), false)
  const error = await new Promise<NodeJS.ErrnoException | null>((resolve) =>
    lookup('hooks.example', { all: true }, (failure) => resolve(failure)),
  )
  expect(error).toMatchObject({ code })
  expect(systemNames).toEqual([])
})

test('where private targets are allowed, the system is asked for a name that the name servers do not have', async () => {
  const server = await startNameServer((name) => (name === 'slow.svc' ? undefined : { code: NO_SUCH_NAME }))
  const systemNames = serveSystemNames('10.0.0.9')
  const lookUp = server.lookUp({ allowPrivateTargets: true })
  expect(await lookUp('receiver.svc')).toEqual([{ address: '10.0.0.9', family: 4 }])
  // A name that nobody answers would keep a thread.
  await expect(lookUp('slow.svc')).rejects.toMatchObject({ code: 'EAI_AGAIN' })
  expect(systemNames).toEqual(['receiver.svc'])
})

test('the system is asked for a name without a dot, and for one in the hosts file', async () => {
  const server = await startNameServer(() => ({ code: NO_SUCH_NAME }))
  const systemNames = serveSystemNames('10.0.0.9')
  const text = '# 10.0.0.9 old.example\n10.0.0.9\thooks.example Pinned.example # no.example\r\n'
  const lookUp = server.lookUp({ hostsFile: hostsFile(text) })
  const known = ['receiver', 'receiver.', 'hooks.example', 'PINNED.example.']
  for (const name of known) expect(await lookUp(name)).toEqual([{ address: '10.0.0.9', family: 4 }])
  expect([systemNames, server.asked]).toEqual([known, []])
  for (const name of ['old.example', 'no.example', '10.0.0.9.example']) expect(await lookUp(name)).toEqual([])
  expect(systemNames).toEqual(known)
})
