import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { contains, networkOf, parseNetwork } from '../src/core/networks.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { listPartners } from '../src/features/partners/queries.ts'
import { Refusal } from '../src/core/refusal.ts'
import { eventually, startBank, TESTER } from './bank.ts'

/*
 * The model: an address is a number of 128 bits, IPv4 in its mapped form; a network is the numbers that agree in
 * their first bits. Spellings are made here, not by the library under test.
 */
const MAPPED = 0xffffn << 32n
const maskOf = (prefixBits: number) => ((1n << BigInt(prefixBits)) - 1n) << BigInt(128 - prefixBits)
const dotted = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.')
const groups = (value: bigint) => Array.from({ length: 8 }, (_, n) => (value >> BigInt(112 - 16 * n)) & 0xffffn)
const hex = (value: bigint) => groups(value).map((group) => group.toString(16))

const FULL = (value: bigint) => hex(value).join(':')
const PADDED = (value: bigint) =>
  hex(value)
    .map((group) => group.padStart(4, '0').toUpperCase())
    .join(':')
const SHORT = (value: bigint) => new URL(`http://[${FULL(value)}]/`).hostname.slice(1, -1)
const MIXED = (value: bigint) => `${hex(value).slice(0, 6).join(':')}:${dotted(value & 0xffffffffn)}`

interface Spelled {
  value: bigint
  text: string
  /** How many bits the prefix of this spelling leaves out: 96 for dotted IPv4. */
  offsetBits: number
}

const v6 = fc.constantFrom(FULL, PADDED, SHORT, MIXED)
const bits = (max: number) => fc.integer({ min: 0, max })
const ipv4Value = fc.bigInt({ min: 0n, max: 0xffffffffn }).map((value) => MAPPED | value)
const ipv6Value = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n })
/** ::192.0.2.1, the deprecated 'compatible' form: another address than the mapped one. */
const lowValue = fc.bigInt({ min: 0n, max: 0xffffffffn })
const anyValue = fc.oneof(ipv4Value, ipv6Value, lowValue)

const spell = (value: bigint): fc.Arbitrary<Spelled> => {
  const long = v6.map((write) => ({ value, text: write(value), offsetBits: 0 }))
  if (value >> 32n === 0n) {
    return fc.oneof(fc.constant({ value, text: `::${dotted(value)}`, offsetBits: 0 }), long)
  }
  if (value >> 32n !== 0xffffn) return long
  return fc.oneof(fc.constant({ value, text: dotted(value & 0xffffffffn), offsetBits: 96 }), long)
}

const network = fc.record({ value: anyValue, prefixBits: bits(128) }).chain(({ value, prefixBits }) => {
  const isIpv4 = value >> 32n === 0xffffn
  const wanted = isIpv4 ? 96 + (prefixBits % 33) : prefixBits
  const first = value & maskOf(wanted)
  return spell(first)
    .filter(({ offsetBits }) => wanted >= offsetBits)
    .map(({ text, offsetBits }) => ({ first, prefixBits: wanted, text: `${text}/${wanted - offsetBits}` }))
})

/** Near the network as often as not: the same address with one bit changed. */
const candidate = (first: bigint) =>
  fc
    .oneof(
      anyValue,
      bits(127).map((bit) => first ^ (1n << BigInt(bit))),
      fc.constant(first),
    )
    .chain(spell)

test('a network holds exactly the addresses that agree with it in its prefix, however both are written', () => {
  fc.assert(
    fc.property(
      network.chain((range) => candidate(range.first).map((address) => ({ range, address }))),
      ({ range, address }) => {
        const expected = (address.value & maskOf(range.prefixBits)) === range.first
        expect(contains(parseNetwork(range.text), address.text)).toBe(expected)
      },
    ),
    { numRuns: 2000 },
  )
})

test('an address alone is a network of itself', () => {
  fc.assert(
    fc.property(anyValue.chain(spell), anyValue.chain(spell), (one, other) => {
      expect(contains(parseNetwork(one.text), one.text)).toBe(true)
      expect(contains(parseNetwork(one.text), other.text)).toBe(one.value === other.value)
    }),
  )
})

test('the addresses of an IPv6 /64 belong to one customer, those of IPv4 to one each', () => {
  expect(networkOf('2001:db8:0:7::1')).toBe(networkOf('2001:DB8:0:7:ffff:ffff:ffff:ffff'))
  expect(networkOf('2001:db8:0:7::1')).not.toBe(networkOf('2001:db8:0:8::1'))
  expect(networkOf('fe80::1%eth0')).toBe(networkOf('fe80::2'))
  expect(networkOf('192.0.2.1')).toBe('192.0.2.1')
  expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1')
  expect(networkOf('nonsense')).toBe('nonsense')
})

test('bits beyond the prefix are refused, never guessed about', () => {
  fc.assert(
    fc.property(anyValue.chain(spell), bits(127), ({ value, text, offsetBits }, prefixBits) => {
      fc.pre(prefixBits >= offsetBits && (value & maskOf(prefixBits)) !== value)
      expect(() => parseNetwork(`${text}/${prefixBits - offsetBits}`)).toThrow('has bits set beyond its prefix')
    }),
  )
})

const holds = (range: string, address: string) => contains(parseNetwork(range), address)

test('the edges: /0, /32, /128 and the mapped forms', () => {
  expect(holds('0.0.0.0/0', '255.255.255.255')).toBe(true)
  expect(holds('0.0.0.0/0', '::ffff:10.0.0.1')).toBe(true)
  expect(holds('0.0.0.0/0', '2001:db8::1')).toBe(false)
  expect(holds('::/0', '2001:db8::1')).toBe(true)
  expect(holds('::/0', '192.0.2.1')).toBe(true)
  expect(holds('192.0.2.1/32', '192.0.2.1')).toBe(true)
  expect(holds('192.0.2.1/32', '192.0.2.2')).toBe(false)
  expect(holds('2001:db8::1/128', '2001:db8::1')).toBe(true)
  expect(holds('2001:db8::1/128', '2001:db8::2')).toBe(false)
  expect(holds('::ffff:192.0.2.0/120', '192.0.2.255')).toBe(true)
  expect(holds('::ffff:192.0.2.0/120', '192.0.3.0')).toBe(false)
  expect(holds('192.0.2.0/24', '::ffff:c000:2ff')).toBe(true)
  expect(holds('192.0.2.0/24', '::192.0.2.1')).toBe(false)
  expect(holds('::1', '::0.0.0.1')).toBe(true)
  // The zone of the peer's address names an interface of this machine.
  expect(holds('fe80::/10', 'fe80::1%eth0')).toBe(true)
})

const REFUSED = `
  / /8 192.0.2.1/ 192.0.2.0/24/ 192.0.2.0/24/24 192.0.2.0//24 192.0.2.0/33 192.0.2.0/-1 192.0.2.0/+8
  192.0.2.0/024 192.0.2.0/0x18 192.0.2.0/2.0 192.0.2.0/1e1 ::/129 ::/128/0 192.0.2.0/255.255.255.0
  192.0.2.0-192.0.2.255 192.0.2.* 192.0.2.1,192.0.2.2 010.0.0.1 0x7f.0.0.1 0x7f000001 2130706433 127.1
  127.0.1 1.2.3.4.5 256.0.0.1 1.2.3.-4 fe80::1%eth0 fe80::%eth0/64 ::1% ::: 1::2::3 ::g 12345::
  ::ffff:256.0.0.1 [::1] ::1] localhost example.org 192.0.2.1:80 １９２.0.2.1 192.0.2.0/２４ any * null
  __proto__`
const REFUSED_BLANKS = [
  '',
  ' ',
  ' 192.0.2.1',
  '192.0.2.1 ',
  '192.0.2.1\n',
  '192.0.2.0 /24',
  '192.0.2.0/ 24',
  '192.0.2.0/24 ',
  '\t::1',
]

test('text that is not exactly an address or a range is rejected', () => {
  const refused = [...REFUSED.trim().split(/\s+/), ...REFUSED_BLANKS]
  for (const text of refused) expect(() => parseNetwork(text), JSON.stringify(text)).toThrow(Error)
})

test('nonsense is refused with an error, and is in no network', () => {
  const everywhere = [parseNetwork('0.0.0.0/0'), parseNetwork('::/0')]
  const pieces = fc.array(fc.constantFrom('1', '255', '.', ':', '/', '%', 'f', ' ', '-', '0x', '::ffff:'), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string({ unit: 'binary' }),
        pieces.map((list) => list.join('')),
      ),
      (text) => {
        try {
          // What is taken at all is a network with at least one address.
          expect(contains(parseNetwork(text), text.split('/')[0]!)).toBe(true)
        } catch (error) {
          expect((error as Error).constructor).toBe(Refusal)
          expect((error as Error).message).toContain(text)
        }
        for (const range of everywhere) expect(contains(range, text)).toBeTypeOf('boolean')
      },
    ),
    { numRuns: 2000 },
  )
  for (const text of ['', 'unknown', '192.0.2.1:80', '_hidden', '127.1']) {
    for (const range of everywhere) expect(contains(range, text), text).toBe(false)
  }
})

const { trustProxy } = readConfig({ TRUST_PROXY: '127.0.0.1' })

test('only addresses on the allowlist get in, at the token endpoint too', async () => {
  const bank = await startBank({ config: { trustProxy } })
  const open = await bank.token()
  const allowedNetworks = ['192.0.2.0/24', '2001:db8::/32']
  await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { allowed_networks: allowedNetworks })
  const { clientId: client_id, clientSecret: client_secret } = bank.partner
  const from = (address: string, secret = client_secret) => {
    const headers = { 'x-forwarded-for': address }
    const body = { grant_type: 'client_credentials', client_id, client_secret: secret }
    return {
      users: async () => (await bank.call('/users', { token: open, headers })).body.error ?? 'in',
      token: async () => (await bank.call('/oauth/token', { body, headers })).body.error ?? 'in',
    }
  }
  await eventually(async () => (await from('198.51.100.1').users()) === 'ip_not_allowed')
  // Cached since it fetched its token, so not known with the answer above.
  await eventually(async () => (await from('198.51.100.1').token()) === 'ip_not_allowed')
  for (const address of [
    '192.0.2.0',
    '192.0.2.255',
    '::ffff:192.0.2.7',
    '2001:db8:ffff::1',
    '198.51.100.1, 192.0.2.7',
  ]) {
    expect(await from(address).users(), address).toBe('in')
    expect(await from(address).token(), address).toBe('in')
  }
  // Last comes whom the proxy itself saw: what a caller claims before that does not count.
  for (const address of [
    '192.0.3.0',
    '2001:db9::',
    '::1',
    '192.0.2.7, 198.51.100.1',
    'unknown',
    '192.0.2.7:4711',
    '',
  ]) {
    expect(await from(address).users(), address).toBe('ip_not_allowed')
    expect(await from(address).token(), address).toBe('ip_not_allowed')
  }
  expect(await from('198.51.100.1', 'wrong').token()).toBe('invalid_client')
})

test('without a trusted proxy, callers cannot choose the address that is checked', async () => {
  const bank = await startBank()
  const here = await bank.addPartner({ allowedNetworks: ['127.0.0.0/8'] })
  const elsewhere = await bank.addPartner({ allowedNetworks: ['192.0.2.0/24'] })
  const headers = { 'x-forwarded-for': '192.0.2.7', forwarded: 'for=192.0.2.7', 'x-real-ip': '192.0.2.7' }
  const askFor = ({ clientId: client_id, clientSecret: client_secret }: typeof here) =>
    bank.call('/oauth/token', { body: { grant_type: 'client_credentials', client_id, client_secret }, headers })
  expect((await askFor(here)).status).toBe(200)
  expect((await askFor(elsewhere)).body.error).toBe('ip_not_allowed')
})

test('0.0.0.0/0 lets in all of IPv4, an empty list everyone', async () => {
  const bank = await startBank({ config: { trustProxy } })
  const ipv4 = await bank.addPartner({ allowedNetworks: ['0.0.0.0/0'] })
  const askFrom = async (address: string, { clientId: client_id, clientSecret: client_secret } = ipv4) => {
    const body = { grant_type: 'client_credentials', client_id, client_secret }
    return (await bank.call('/oauth/token', { body, headers: { 'x-forwarded-for': address } })).status
  }
  for (const address of ['0.0.0.0', '8.8.8.8', '255.255.255.255', '::ffff:8.8.8.8']) {
    expect(await askFrom(address), address).toBe(200)
  }
  expect(await askFrom('2001:db8::1')).toBe(403)
  expect(await askFrom('2001:db8::1', bank.partner)).toBe(200)
})

test('a malformed range is refused when it is set, and nothing changes', async () => {
  const bank = await startBank()
  const { sql, communityId, partner } = bank
  await changePartner(sql, TESTER, communityId, partner.partnerId, { allowed_networks: ['192.0.2.0/24'] })
  for (const range of ['192.0.2.1/24', '10.0.0.0/33', 'everyone', '', '10.0.0.0/8 ', '010.0.0.0/8']) {
    const input = { allowed_networks: ['198.51.100.0/24', range] }
    await expect(changePartner(sql, TESTER, communityId, partner.partnerId, input), range).rejects.toThrow(Refusal)
    await expect(bank.addPartner({ allowedNetworks: [range] }), range).rejects.toThrow(Refusal)
  }
  const many = Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`)
  const tooMany = changePartner(sql, TESTER, communityId, partner.partnerId, { allowed_networks: many })
  await expect(tooMany).rejects.toThrow(Refusal)
  expect(await listPartners(sql, communityId)).toMatchObject([{ allowed_networks: ['192.0.2.0/24'] }])
})
