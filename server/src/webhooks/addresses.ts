import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** What an address must be refused for is decided on the address really used, at connect time. */
export class RefusedAddress extends Error {
  readonly code = 'REFUSED_ADDRESS'
}

export type Resolve = (name: string) => Promise<LookupAddress[]>

/** Addresses that hold another one inside: what counts is that one. 64:ff9b::/96 and 64:ff9b:1::/48 are NAT64. */
const TRANSLATED = [ipaddr.parseCIDR('64:ff9b::/96'), ipaddr.parseCIDR('64:ff9b:1::/48')] as [ipaddr.IPv6, number][]
/** 192.88.99.0/24 and friends are told by ipaddr.js; these are not. */
const FORBIDDEN_IPV4 = [ipaddr.parseCIDR('192.0.0.0/24'), ipaddr.parseCIDR('198.18.0.0/15')] as [ipaddr.IPv4, number][]

/** Only what the whole internet can reach. */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.process(text.replace(/%.*$/, ''))
  if (address instanceof ipaddr.IPv4) {
    return address.range() === 'unicast' && !FORBIDDEN_IPV4.some((range) => address.match(range))
  }
  if (TRANSLATED.some((range) => address.match(range))) return false
  return address.range() === 'unicast' && isGlobalUnicast(address)
}

/** 2000::/3: all that is given out; what carries an IPv4 address inside (6to4, Teredo) is not 'unicast' above. */
function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  return (address.parts[0]! & 0xe000) === 0x2000
}

export const resolveBySystem: Resolve = (name) =>
  new Promise((resolve, reject) => {
    systemLookup(name, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)))
  })

/**
 * The look-up of a connection: the very addresses it returns are connected to, so a name cannot mean one thing when
 * checked and another when used. One private address among several refuses them all.
 */
export function guardedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  return (name, options, callback) => {
    resolve(name).then(
      (addresses) => {
        const refused = allowPrivate ? undefined : addresses.find(({ address }) => !isPublicAddress(address))
        if (refused) return callback(new RefusedAddress(`${name} leads to ${refused.address}`), [])
        const [first] = addresses
        if (!first) return callback(Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' }), [])
        if (options.all) return callback(null, addresses)
        return callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    )
  }
}

/** A literal address never reaches the look-up. */
export function requireReachable(target: URL, allowPrivate: boolean): void {
  const host = target.hostname.replace(/^\[|\]$/g, '')
  if (!allowPrivate && isIP(host) && !isPublicAddress(host)) throw new RefusedAddress(`${host} is not a public address`)
}
