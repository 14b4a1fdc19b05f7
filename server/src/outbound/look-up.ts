import dns, { type LookupAddress } from 'node:dns'
import { readFile } from 'node:fs/promises'
import type { Resolve } from './addresses.ts'

/** Shorter than the shortest time limit of a request to such an address, which is that of key sets. */
const TIMEOUT_MS = 4_000
/** Doubled with each further try. */
const TRY_MS = 1_000
const TRIES_MAX = 3
const HOSTS_FILE = '/etc/hosts'
/** The name servers know of no such name, or of no address of this family. */
const NO_ADDRESS_CODES = new Set(['ENOTFOUND', 'ENODATA'])

export interface LookUpOptions {
  allowPrivateTargets: boolean
  /** Instead of those of the system. */
  nameServers?: string[]
  hostsFile?: string
  timeoutMs?: number
}

/**
 * Looks up names that partners choose. The system's look-up takes one of two threads of the whole process, and a name whose
 * server never answers keeps it for 10 s: four such names made the deliveries to all other receivers fail. So name servers
 * are asked directly, without threads. The system is asked only for names that it knows by itself: names without a dot and
 * those in the hosts file. Where private targets are allowed, it is also asked for names that the name servers do not
 * have, because search domains and the like may lead to them.
 */
export function createLookUp(options: LookUpOptions): Resolve {
  const { allowPrivateTargets, hostsFile = HOSTS_FILE } = options
  return async (name) => {
    const bare = name.replace(/\.$/, '').toLowerCase()
    if (!bare.includes('.') || (await isInHostsFile(hostsFile, bare))) return resolveBySystem(name)
    const addresses = await askNameServers(name, options)
    return addresses.length === 0 && allowPrivateTargets ? resolveBySystem(name) : addresses
  }
}

const resolveBySystem: Resolve = (name) =>
  new Promise((resolve, reject) => {
    dns.lookup(name, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)))
  })

/** Read each time, like the settings of the name servers: both may change while the service runs. */
async function isInHostsFile(file: string, name: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').some((line) => {
    const [, ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    return names.includes(name)
  })
}

/** A resolver of its own for each look-up, which takes 0.06 ms: only all look-ups of a resolver can be cancelled. */
async function askNameServers(name: string, options: LookUpOptions): Promise<LookupAddress[]> {
  const { nameServers, timeoutMs = TIMEOUT_MS } = options
  const resolver = new dns.promises.Resolver({ timeout: TRY_MS, tries: TRIES_MAX })
  if (nameServers) resolver.setServers(nameServers)
  const timer = setTimeout(() => resolver.cancel(), timeoutMs)
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  clearTimeout(timer)
  const addresses = answers.flatMap((answer, n) =>
    answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: n === 0 ? 4 : 6 })) : [],
  )
  // With addresses of one family, the failure of the other does not matter.
  const failure = addresses.length === 0 && answers.map(failureOf).find((code) => code !== undefined)
  // The code of the system's look-up for a failure that may pass.
  if (failure) throw Object.assign(new Error(`${name} could not be looked up: ${failure}`), { code: 'EAI_AGAIN' })
  return addresses
}

function failureOf(answer: PromiseSettledResult<unknown>): string | undefined {
  const code = answer.status === 'rejected' ? (answer.reason as NodeJS.ErrnoException).code : undefined
  if (code === undefined || NO_ADDRESS_CODES.has(code)) return undefined
  return code === 'ECANCELLED' ? 'ETIMEOUT' : code
}
