import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Refusal } from './refusal.ts'
import { because } from './reasons.ts'

/** A range of addresses. IPv4 is stored in IPv4-mapped form, so one comparison works for both families. */
export interface Network {
  readonly bytes: Uint8Array
  readonly prefixBits: number
}

const ADDRESS_BITS = 128
const MAPPED_PREFIX_BITS = 96
const CUSTOMER_PREFIX_BITS = 64

const MAPPED: Network = { bytes: toBytes('::ffff:0:0'), prefixBits: MAPPED_PREFIX_BITS }

/** Parses `192.0.2.7`, `192.0.2.0/24`, `2001:db8::/32` or `::ffff:192.0.2.0/120`. */
export function parseNetwork(text: string, about: { field?: string } = {}): Network {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || rest.length > 0) {
    throw new Refusal(because('network_form', { network: text }), about)
  }
  const familyBits = family === 4 ? 32 : ADDRESS_BITS
  if (prefix !== undefined && (!/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > familyBits)) {
    throw new Refusal(because('network_prefix', { network: text, bits: familyBits }), about)
  }
  const bytes = toBytes(address)
  const prefixBits = (prefix === undefined ? familyBits : Number(prefix)) + (family === 4 ? MAPPED_PREFIX_BITS : 0)
  if (bytes.some((byte, index) => (byte & ~mask(index, prefixBits)) !== 0)) {
    // Assuming the wider or the narrower range would be a guess about who gets access.
    throw new Refusal(because('network_bits', { network: text }), about)
  }
  return { bytes, prefixBits }
}

/** Returns false for text that is not an address: a proxy may forward anything. */
export function contains(network: Network, address: string): boolean {
  if (isIP(address) === 0) return false
  const bytes = toBytes(address)
  return network.bytes.every((byte, index) => byte === (bytes[index]! & mask(index, network.prefixBits)))
}

/** Returns what one customer of a network has: an IPv4 address, or the /64 that an IPv6 address is in. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const bytes = toBytes(address)
  if (contains(MAPPED, address)) return bytes.subarray(MAPPED_PREFIX_BITS / 8).join('.')
  return `${Buffer.from(bytes.subarray(0, CUSTOMER_PREFIX_BITS / 8)).toString('hex')}/${CUSTOMER_PREFIX_BITS}`
}

function toBytes(address: string): Uint8Array {
  // A zone (fe80::1%eth0) names a local interface and is not part of the address.
  const parsed = ipaddr.parse(withoutDottedTail(address.replace(/%.*$/, '')))
  return Uint8Array.from((parsed instanceof ipaddr.IPv4 ? parsed.toIPv4MappedAddress() : parsed).toByteArray())
}

/** ipaddr.js parses the deprecated ::192.0.2.1 as the mapped ::ffff:192.0.2.1, which is a different address. */
function withoutDottedTail(address: string): string {
  const isMixed = address.includes(':') && address.includes('.')
  return isMixed ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}

/** Returns the bits of byte `index` that a prefix of this length covers. */
function mask(index: number, prefixBits: number): number {
  const covered = Math.min(8, Math.max(0, prefixBits - index * 8))
  return (0xff << (8 - covered)) & 0xff
}
