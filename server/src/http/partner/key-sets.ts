import type { JWK } from 'jose'
import { Agent } from 'undici'
import { QueueFull } from '../../core/work-queue.ts'
import { readJwk } from '../../crypto/public-keys.ts'
import { guardedLookup, requireReachable, type Resolve } from '../../outbound/addresses.ts'
import { createExchanger, type Answer } from '../../outbound/exchange.ts'

/** How long a key that its owner has removed from the set may still be accepted. */
const LIFETIME_MS = 5 * 60 * 1000
/** Anyone who knows a client id can ask for a key that is not in its set, so this bounds the fetches of each address. */
const FETCH_INTERVAL_MS = 10_000
/** Shorter than the time limit of a request, which waits for the set. */
const TIMEOUT_MS = 5_000
const SET_BYTES_MAX = 64 * 1024
const KEYS_MAX = 20
const SETS_MAX = 1_000
/** For all sets together. A call that waits takes one of the places of all calls, before its client has proven anything. */
const WAITING_MAX = 64
const CONNECTIONS_PER_HOST_MAX = 2
const KEEP_ALIVE_MS = 1_000
const OK = 200

/** The keys that clients publish as a JWK Set (RFC 7517). */
export interface KeySets {
  /** Returns the usable keys at this address with this id, or all without one; none if the set cannot be had. */
  find(url: string, keyId: string | undefined): Promise<JWK[]>
  close(): Promise<void>
}

export interface KeySetOptions {
  resolve: Resolve
  allowPrivateTargets: boolean
  /** Why a set could not be had: callers are not told. */
  onFailure: (url: string, reason: string) => void
  /** Certificates to trust beside the system's. */
  ca?: string | undefined
  timeoutMs?: number
  clock?: () => number
}

interface KeySet {
  keys: JWK[]
  fetchedAtMs: number
  triedAtMs: number
  pending: Promise<void> | undefined
}

/** Fetches under the rules of webhooks: public addresses only, checked at connect time, and no redirects. */
export function openKeySets(options: KeySetOptions): KeySets {
  const {
    resolve,
    allowPrivateTargets,
    onFailure,
    ca,
    timeoutMs = TIMEOUT_MS,
    clock = () => performance.now(),
  } = options
  const agent = new Agent({
    connections: CONNECTIONS_PER_HOST_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { lookup: guardedLookup(resolve, allowPrivateTargets), timeout: timeoutMs, ...(ca && { ca }) },
  })
  const exchanger = createExchanger(agent, { timeoutMs, bytesMax: SET_BYTES_MAX })
  const sets = new Map<string, KeySet>()
  let waiting = 0

  function get(url: string): Promise<Answer> {
    return new Promise((settle, fail) => {
      const target = new URL(url)
      requireReachable(target, allowPrivateTargets)
      const headers = { accept: 'application/jwk-set+json, application/json' }
      exchanger.get({ origin: target.origin, path: target.pathname + target.search }, headers, (answer, error) =>
        answer ? settle(answer) : fail(error),
      )
    })
  }

  async function fetchInto(set: KeySet, url: string): Promise<void> {
    try {
      set.keys = await readKeySet(await get(url))
      set.fetchedAtMs = clock()
    } catch (error) {
      onFailure(url, (error as Error).message)
    } finally {
      set.pending = undefined
    }
  }

  /** Callers that come meanwhile share a fetch. */
  async function refresh(set: KeySet, url: string): Promise<void> {
    if (!set.pending && clock() - set.triedAtMs >= FETCH_INTERVAL_MS) {
      set.triedAtMs = clock()
      set.pending = fetchInto(set, url)
    }
    if (!set.pending) return
    if (waiting >= WAITING_MAX) throw new QueueFull('too many calls wait for key sets')
    waiting += 1
    await set.pending.finally(() => (waiting -= 1))
  }

  function open(url: string): KeySet {
    const known = sets.get(url)
    if (known) return known
    if (sets.size >= SETS_MAX) sets.delete(sets.keys().next().value!)
    const set = { keys: [], fetchedAtMs: -Infinity, triedAtMs: -Infinity, pending: undefined }
    sets.set(url, set)
    return set
  }

  return {
    async find(url, keyId) {
      const set = open(url)
      const current = () => {
        if (clock() - set.fetchedAtMs >= LIFETIME_MS) return []
        return keyId === undefined ? set.keys : set.keys.filter(({ kid }) => kid === keyId)
      }
      // A key that is not there may be a new one.
      if (current().length === 0) await refresh(set, url)
      return current()
    },
    close: () => exchanger.close(),
  }
}

/** Keys for other purposes are left out, and so are those that we would not register. */
async function readKeySet({ status, beginning }: Answer): Promise<JWK[]> {
  if (status !== OK) throw new Error(`the address answered ${status}`)
  if (beginning.length >= SET_BYTES_MAX) throw new Error(`the answer has more than ${SET_BYTES_MAX} bytes`)
  const keys = parseKeys(beginning.toString())
  const read = await Promise.all(keys.slice(0, KEYS_MAX).map((key) => readJwk(key).catch(() => undefined)))
  return read.flatMap((key) => (key ? [key.jwk] : []))
}

function parseKeys(text: string): JWK[] {
  let set: { keys?: unknown } | null
  try {
    set = JSON.parse(text)
  } catch {
    throw new Error('the answer is not JSON')
  }
  if (!Array.isArray(set?.keys)) throw new Error('the answer is not a JWK Set')
  return set.keys
}
