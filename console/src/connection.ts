import { useSyncExternalStore } from 'react'

const PROBE_EVERY_MS = 2_000
const PROBE_TIMEOUT_MS = 4_000

/** `lost`: nothing answers. `unavailable`: the service answers, but its database is away or it is overloaded. */
export type Connection = 'ok' | 'lost' | 'unavailable'

let state: Connection = 'ok'
let probeTimer: ReturnType<typeof setTimeout> | undefined
const watchers = new Set<() => void>()
const waiting = new Set<() => void>()

function become(next: Connection): void {
  if (next === state) return
  state = next
  for (const watcher of watchers) watcher()
}

/** A call failed for want of a connection: from now on the service is asked until it is back. */
export function reportTrouble(kind: Exclude<Connection, 'ok'>): void {
  become(kind)
  probeTimer ??= setTimeout(probe, PROBE_EVERY_MS)
}

async function probe(): Promise<void> {
  const answer = await ask()
  probeTimer = undefined
  if (answer !== 'ok') return reportTrouble(answer)
  become('ok')
  for (const go of waiting) go()
  waiting.clear()
}

async function ask(): Promise<Connection> {
  try {
    const response = await fetch('/readyz', { cache: 'no-store', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
    return response.ok ? 'ok' : 'unavailable'
  } catch {
    return 'lost'
  }
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

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export function useConnection(): Connection {
  return useSyncExternalStore(watch, () => state)
}
