import { addressesOf } from '../core/database-address.ts'
import { within } from '../core/within.ts'
import { Client, clientSettings, driverAddress, toFailure, type ServerChoice, type ServerState } from './client.ts'
import { DatabaseUnavailable, isOutage } from './outage.ts'

/** A machine that vanished does not even refuse connections. */
const PROBE_TIMEOUT_MS = 2_000
/** While there is no primary, callers share a search and its result for this long. */
const SEARCH_INTERVAL_MS = 250

const IS_STANDBY =
  'is a standby, which only reads; name the primary in DATABASE_URL, or all servers, separated by commas'

/** The servers of an address, of which one is the primary. */
export interface Servers extends ServerChoice {
  /** False until the primary has been found, and again after a connection to it failed. */
  isSettled(): boolean
  /** Finds the primary. Rejects if there is none. */
  settle(): Promise<void>
  /** The servers that did not answer when the primary was last searched for: one of them may be a newer primary. */
  readonly unanswered: string[]
  /** Called with the address of the primary when it was found again, perhaps elsewhere. Returns how to unsubscribe. */
  onFound(listener: (address: string) => void): () => void
}

export interface ServersOptions {
  /** For a replica: a standby will do. */
  isStandbyAllowed?: boolean
}

/** What is known of several servers is shared by all pools of the process, so that they move together. */
const shared = new Map<string, Servers>()

export function serversOf(url: string, options: ServersOptions = {}): Servers {
  const addresses = addressesOf(url).map(driverAddress)
  if (addresses.length === 1) return openServers(addresses, options)
  const known = shared.get(url) ?? openServers(addresses, options)
  shared.set(url, known)
  return known
}

function openServers(addresses: string[], { isStandbyAllowed = false }: ServersOptions): Servers {
  const hasOthers = addresses.length > 1
  const listeners = new Set<(address: string) => void>()
  let current = addresses[0]!
  let isSettled = !hasOthers
  /** The newest that this process has seen. A primary on an older one was replaced, and came back without noticing. */
  let timelineMin = 0
  let search: Promise<void> | undefined
  let unanswered: string[] = []

  function findObjection(address: string, { is_standby, timeline }: ServerState): Error | undefined {
    if (is_standby && !isStandbyAllowed) return new DatabaseUnavailable(`${nameOf(address)} ${IS_STANDBY}`)
    if (timeline === null) return undefined
    if (timeline < timelineMin) {
      const reason = `was replaced as the primary: its timeline is ${timeline}, the newest is ${timelineMin}`
      return new DatabaseUnavailable(`${nameOf(address)} ${reason}`)
    }
    timelineMin = timeline
    return undefined
  }

  async function find(): Promise<void> {
    const answers = await Promise.all(addresses.map((address) => probe(address, hasOthers)))
    unanswered = answers.filter(({ state }) => !state).map(({ address }) => nameOf(address))
    // The newest timeline first, so that a primary that was replaced is recognized.
    const objections = answers
      .toSorted((one, other) => (other.state?.timeline ?? 0) - (one.state?.timeline ?? 0))
      .map(({ address, state, failure }) => ({ address, failure: state ? findObjection(address, state) : failure }))
    const primary = objections.find(({ failure }) => !failure)
    if (!primary) throw combine(objections.map(({ failure }) => failure!))
    current = primary.address
    isSettled = true
    for (const listener of listeners) listener(current)
  }

  return {
    get address() {
      return current
    },
    hasOthers,
    findObjection,
    onFailure(address) {
      if (hasOthers && address === current) isSettled = false
    },
    isSettled: () => isSettled,
    get unanswered() {
      return unanswered
    },
    settle() {
      if (isSettled) return Promise.resolve()
      if (!search) {
        const started = (search = find())
        const forget = () => search === started && (search = undefined)
        started.then(forget, () => setTimeout(forget, SEARCH_INTERVAL_MS).unref())
      }
      return search
    },
    onFound(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

interface Answer {
  address: string
  /** Undefined if there is none. */
  state?: ServerState
  failure: Error
}

/** Asks one server for its state. */
async function probe(address: string, hasOthers: boolean): Promise<Answer> {
  let state: ServerState | undefined
  let failure: Error = new DatabaseUnavailable(`${nameOf(address)} does not answer`)
  const servers: ServerChoice = {
    address,
    hasOthers,
    findObjection(_, found) {
      state = found
      return undefined
    },
    onFailure: () => {},
  }
  const client = new Client({ ...clientSettings('search'), servers })
  const connected = client.connect().catch((error: unknown) => {
    failure = toFailure(error)
    if (isOutage(failure)) failure = new DatabaseUnavailable(`${nameOf(address)}: ${failure.message}`, { cause: error })
  })
  await within(PROBE_TIMEOUT_MS, connected)
  client.end().catch(() => {})
  return { address, failure, ...(state && { state }) }
}

/** A connection that was rejected (wrong password, unknown database) has to be fixed, whatever the others say. */
function combine(failures: Error[]): Error {
  const rejected = failures.find((failure) => !isOutage(failure))
  if (rejected) return rejected
  const reasons = failures.map(({ message }) => message).join('; ')
  return new DatabaseUnavailable(`none of the servers is a primary that can be used (${reasons})`, {
    cause: failures[0],
  })
}

/** Returns host and port, without credentials. */
function nameOf(address: string): string {
  const { host, searchParams } = new URL(address)
  return host || searchParams.get('host') || 'the server'
}
