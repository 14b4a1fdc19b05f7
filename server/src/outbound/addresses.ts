import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import ipaddr from 'ipaddr.js'

/** What an address must be refused for is decided on the address really used, at connect time. */
export class RefusedAddress extends Error {
  readonly code = 'REFUSED_ADDRESS'
}

export type Resolve = (name: string) => Promise<LookupAddress[]>

/** 2000::/3: all that is given out for the internet. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]
/** For documentation (RFC 9637); ipaddr.js knows the other ranges of IANA's special-purpose registries. */
const DOCUMENTATION = ipaddr.parseCIDR('3fff::/20') as [ipaddr.IPv6, number]

/**
 * Only what the whole internet can reach. Addresses that carry an IPv4 address inside (mapped, NAT64, 6to4, Teredo) are
 * none of those, whatever they carry: where they lead is for a translator on the way to say.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || (address.match(GLOBAL_UNICAST) && !address.match(DOCUMENTATION))
}

/**
 * The look-up of a connection: the very addresses it returns are connected to, so a name cannot mean one thing when
 * checked and another when used. One private address among several refuses them all.
 */
export function guardedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  const resolvePublic = callbackify(async (name: string) => {
    const addresses = await resolve(name)
    const refused = allowPrivate ? undefined : addresses.find(({ address }) => !isPublicAddress(address))
    if (refused) throw new RefusedAddress(`${name} leads to an address that is not public`)
    if (addresses.length === 0) throw Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' })
    return addresses
  })
  return (name, options, callback) =>
    resolvePublic(name, (error, addresses) => {
      if (error) return callback(error, [])
      const [first] = addresses
      return options.all ? callback(null, addresses) : callback(null, first!.address, first!.family)
    })
}

/** Says what is wrong with the host of an address that somebody enters. Where a name leads is checked when connecting. */
export function findHostProblem({ hostname }: URL, allowPrivate: boolean): 'host_address' | 'host_private' | undefined {
  if (allowPrivate) return undefined
  // The WHATWG parser normalizes decimal, octal and hexadecimal addresses.
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIP(host)) return 'host_address'
  if (host === 'localhost' || host.endsWith('.localhost') || !host.includes('.')) return 'host_private'
  return undefined
}

/** A literal address never reaches the look-up. */
export function requireReachable(target: URL, allowPrivate: boolean): void {
  const host = target.hostname.replace(/^\[|\]$/g, '')
  if (!allowPrivate && isIP(host) && !isPublicAddress(host)) throw new RefusedAddress(`${host} is not a public address`)
}
