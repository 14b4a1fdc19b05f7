import * as fc from 'fast-check'
import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { isPublicAddress } from '../src/outbound/addresses.ts'
import { checkSubscription } from '../src/features/subscriptions/check-target.ts'
import { createSender, SenderClosed, type SenderOptions } from '../src/delivery/send.ts'
import { eventually } from './bank.ts'
import { startReceiver } from './receiver.ts'

/** Every spelling of an address that somebody may try. */
const LITERALS = [
  '127.0.0.1',
  '2130706433',
  '017700000001',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '127.0.0.1.',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '192.0.2.1',
  '198.18.0.1',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::a00:1]',
  '[2002:7f00:1::]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[100::1]',
  '１２７.０.０.１',
  '127。0。0。1',
]
const LOCAL_NAMES = ['localhost', 'localhost.', 'LOCALHOST', 'a.localhost', 'intranet', 'intranet.']

/** A sender with a resolver of the test's own, and how often that was asked. */
function senderTo(answers: (call: number) => string[], options: Partial<SenderOptions> = {}) {
  let calls = 0
  const sender = createSender({
    resolve: async () => {
      calls += 1
      return answers(calls).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
    allowPrivateTargets: false,
    timeoutMs: 2000,
    ...options,
  })
  onTestFinished(() => sender.close())
  return { sender, calls: () => calls }
}

test.each(LITERALS)('the literal %s is refused when subscribing', (host) => {
  expect(() => checkSubscription({ target_url: `https://${host}/hook` }, false)).toThrow()
})

test.each(['93.184.216.34', '[2606:2800:220:1:248:1893:25c8:1946]'])('so is a public one, %s', (host) => {
  expect(() => checkSubscription({ target_url: `https://${host}/hook` }, false)).toThrow()
})

test.each(LOCAL_NAMES)('the name %s is refused when subscribing', (host) => {
  expect(() => checkSubscription({ target_url: `https://${host}/hook` }, false)).toThrow()
})

test('a public name is accepted without resolving it', () => {
  expect(() => checkSubscription({ target_url: 'https://hooks.example.org:8443/a?b=c' }, false)).not.toThrow()
  expect(() => checkSubscription({ target_url: 'https://xn--bcher-kva.example/' }, false)).not.toThrow()
})

test.each(LITERALS)('the literal %s is rejected when sending, even if it is stored', async (host) => {
  const receiver = await startReceiver()
  const { sender, calls } = senderTo(() => ['127.0.0.1'], receiver)
  const outcome = await sender.send(`https://${host}:${receiver.port}/hook`, {}, '{}')
  expect(outcome).toMatchObject({ ok: false, errorKind: 'refused_address' })
  expect(calls()).toBe(0)
  expect(receiver.received).toEqual([])
})

test.each(LOCAL_NAMES)('the name %s is checked by the address it resolves to', async (host) => {
  const receiver = await startReceiver()
  const { sender } = senderTo(() => ['127.0.0.1'], receiver)
  const outcome = await sender.send(`https://${host}:${receiver.port}/hook`, {}, '{}')
  expect(outcome).toMatchObject({ ok: false, errorKind: 'refused_address' })
  expect(receiver.received).toEqual([])
})

test.each([
  ['127.0.0.1'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['::ffff:93.184.216.34'],
  ['64:ff9b::7f00:1'],
  ['2002:7f00:1::'],
  ['fe80::1%lo'],
  ['100.64.0.1'],
  ['0.0.0.0'],
  ['not an address'],
])('a name that leads to %s is refused', async (address) => {
  const { sender } = senderTo(() => [address])
  const outcome = await sender.send('https://receiver.test/', {}, '{}')
  expect(outcome).toMatchObject({ ok: false, errorKind: 'refused_address' })
  // A partner who chose the name is not told what it means in our network.
  expect(outcome.error).toMatch(/receiver\.test leads to an address that is not public$/)
})

test('one private address among several refuses them all', async () => {
  const receiver = await startReceiver()
  for (const answer of [
    ['93.184.216.34', '127.0.0.1'],
    ['127.0.0.1', '93.184.216.34'],
    ['2606:2800:220:1:248:1893:25c8:1946', '::1'],
  ]) {
    const { sender } = senderTo(() => answer, receiver)
    expect(await sender.send(receiver.url, {}, '{}')).toMatchObject({ ok: false, errorKind: 'refused_address' })
  }
  expect(receiver.received).toEqual([])
})

test('a name is resolved once per connection, and the connection uses the address that was checked', async () => {
  const receiver = await startReceiver()
  // Public when it is looked at, this machine when it is used: with a second question the receiver would be reached.
  const { sender, calls } = senderTo((call) => (call === 1 ? ['192.88.100.1'] : ['127.0.0.1']), receiver)
  const first = await sender.send(receiver.url, {}, '{}')
  expect(first.ok).toBe(false)
  expect(first.errorKind).not.toBe('refused_address')
  expect(calls()).toBe(1)
  expect(await sender.send(receiver.url, {}, '{}')).toMatchObject({ ok: false, errorKind: 'refused_address' })
  expect(calls()).toBe(2)
  expect(receiver.received).toEqual([])
})

test('a redirect to a private address is not followed', async () => {
  const inside = await startReceiver()
  const receiver = await startReceiver()
  const sender = createSender({
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    allowPrivateTargets: true,
    ca: receiver.ca,
  })
  onTestFinished(() => sender.close())
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.answer = (response) => response.writeHead(status, { location: inside.url }).end()
    expect(await sender.send(receiver.url, {}, '{}')).toMatchObject({ ok: false, status, errorKind: 'status' })
  }
  expect(inside.received).toEqual([])
})

/** IANA's registries of special-purpose addresses, written down once more, as numbers. */
const SPECIAL_V4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
const toNumber = (text: string) => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const spell = (parts: number[]) => parts.map((part) => part.toString(16)).join(':')
const toText = (value: number) => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')

test('no IPv4 address of a special range is accepted', () => {
  const special = fc.constantFrom(...SPECIAL_V4).chain(([network, bits]) => {
    return fc.nat({ max: 2 ** (32 - bits) - 1 }).map((host) => toText(toNumber(network) + host))
  })
  fc.assert(fc.property(special, (address) => !isPublicAddress(address)))
})

test('no IPv6 address is accepted outside global unicast or with an embedded IPv4 address', () => {
  const groups = fc.array(fc.nat({ max: 0xffff }), { minLength: 8, maxLength: 8 })
  fc.assert(
    fc.property(groups, (parts) => {
      const [first, second] = parts as [number, number]
      const isGlobal = first >= 0x2000 && first <= 0x3fff
      const isSpecial =
        first === 0x2002 ||
        (first === 0x2001 && (second < 0x200 || second === 0xdb8)) ||
        (first === 0x3fff && second < 0x1000)
      return !isPublicAddress(spell(parts)) || (isGlobal && !isSpecial)
    }),
    { numRuns: 2000 },
  )
  const inside = fc.nat({ max: 0xffff }).chain((high) => fc.nat({ max: 0xffff }).map((low) => [high, low] as const))
  fc.assert(
    fc.property(inside, ([high, low]) => {
      const tail = `${high.toString(16)}:${low.toString(16)}`
      return [
        `::ffff:${tail}`,
        `::${tail}`,
        `64:ff9b::${tail}`,
        `64:ff9b:1::${tail}`,
        `2002:${tail}::1`,
        `2001:0:${tail}::1`,
      ].every((address) => !isPublicAddress(address))
    }),
  )
})

test('public addresses are accepted', () => {
  for (const address of ['93.184.216.34', '8.8.8.8', '1.1.1.1', '2606:2800:220:1:248:1893:25c8:1946', '2a00:1450::1']) {
    expect(isPublicAddress(address)).toBe(true)
  }
})

test('a connection in constant use is renewed, and requests in flight on it are completed or aborted', async () => {
  const receiver = await startReceiver()
  const options = { allowPrivateTargets: true, ca: receiver.ca, connectionAgeMaxMs: 200, timeoutMs: 60_000 }
  const { sender, calls } = senderTo(() => ['127.0.0.1'], options)
  const held: ServerResponse[] = []
  receiver.answer = (response) => void held.push(response)
  const [answered, cut] = [sender.send(receiver.url, {}, '{}'), sender.send(receiver.url, {}, '{}')]
  await eventually(() => held.length === 2)
  receiver.answer = (response) => response.writeHead(204).end()
  // Both connections are taken, and of others there is one at a time.
  while (calls() < 6) expect(await sender.send(receiver.url, {}, '{}')).toMatchObject({ ok: true })
  held[0]!.writeHead(204).end()
  expect(await Promise.race([answered, cut])).toMatchObject({ ok: true })
  await Promise.all([sender.close(), expect(Promise.all([answered, cut])).rejects.toBeInstanceOf(SenderClosed)])
})

test('half a character at the end of a truncated failure message is replaced, because the database would reject it', async () => {
  const sender = createSender({
    resolve: async () => {
      throw new Error(`${'x'.repeat(499)}\u{1f55b}`)
    },
    allowPrivateTargets: true,
  })
  onTestFinished(() => sender.close())
  const { error } = await sender.send('https://receiver.test/', {}, '{}')
  expect(error).toBe(`${'x'.repeat(499)}\ufffd`)
})
