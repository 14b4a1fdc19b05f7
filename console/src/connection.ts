import { useSyncExternalStore } from 'react'
import { loadMessages } from './language/language.ts'

const PROBE_EVERY_MS = 2_000
/** While all is well: trouble that reads do not notice, such as a full disk, is to be seen before a save fails. */
const LOOK_EVERY_MS = 30_000
const PROBE_TIMEOUT_MS = 4_000

/** `lost`: nothing answers. `unavailable`: the service answers, but its database is away or it is overloaded. */
type ConnectionState = 'ok' | 'lost' | 'unavailable'

export interface Connection {
  state: ConnectionState
  /** Why the service is unavailable and what to do, in its own words. */
  reason?: string | undefined
}

let connection: Connection = { state: 'ok' }
let probeTimer: ReturnType<typeof setTimeout> | undefined
const watchers = new Set<() => void>()
const waiting = new Set<() => void>()

function become(next: Connection): void {
  if (next.state === connection.state && next.reason === connection.reason) return
  connection = next
  for (const watcher of watchers) watcher()
}

/** A call failed for want of a connection: from now on the service is asked until it is back. */
export function reportTrouble(state: Exclude<ConnectionState, 'ok'>): void {
  // The reason of the last probe holds until the next.
  noteTrouble({ state, reason: connection.state === state ? connection.reason : undefined })
}

function noteTrouble(trouble: Connection): void {
  become(trouble)
  probeTimer ??= setTimeout(probe, PROBE_EVERY_MS)
}

async function probe(): Promise<void> {
  const answer = await ask()
  probeTimer = undefined
  if (answer.state !== 'ok') return noteTrouble(answer)
  become(answer)
  for (const go of waiting) go()
  waiting.clear()
}

async function ask(): Promise<Connection> {
  try {
    const response = await fetch('/readyz', { cache: 'no-store', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
    if (response.ok) return { state: 'ok' }
    return { state: 'unavailable', reason: await readReason(response) }
  } catch {
    return { state: 'lost' }
  }
}

/** Undefined where a proxy answers in place of the service. */
async function readReason(response: Response): Promise<string | undefined> {
  const body = await response.json().catch(() => undefined)
  return typeof body?.reason === 'string' ? body.reason : undefined
}

/** Asks the service now and then whether it is ready, unless nobody looks or it is being asked already. */
export function watchConnection(): void {
  setInterval(async () => {
    if (probeTimer !== undefined || document.hidden) return
    const answer = await ask()
    // A single lost request is for the calls themselves to report.
    if (answer.state === 'unavailable') noteTrouble(answer)
  }, LOOK_EVERY_MS)
}

/** Resolves when the service is back. One probe serves all who wait. */
export function connectionBack(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    const stop = () => {
      waiting.delete(go)
      reject(signal?.reason)
    }
    if (signal?.aborted) return reject(signal.reason)
    signal?.addEventListener('abort', stop, { once: true })
    waiting.add(go)
  })
}

/** Loads a part of the console. While the service is away it waits, says so, and loads again when it is back. */
export async function whenConnected<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await withMessages(load)
  } catch {
    reportTrouble('lost')
    await connectionBack()
    requestStylesAgain()
    return withMessages(load)
  }
}

/** The scripts first: only then is it known which messages they need. */
async function withMessages<T>(load: () => Promise<T>): Promise<T> {
  const part = await load()
  await loadMessages()
  return part
}

/** The build's loader asks for each style sheet once, even if that failed. */
function requestStylesAgain(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')) {
    if (!link.sheet) link.replaceWith(link.cloneNode())
  }
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export function useConnection(): Connection {
  return useSyncExternalStore(watch, () => connection)
}
