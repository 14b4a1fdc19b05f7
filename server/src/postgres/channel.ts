import { randomUUID } from 'node:crypto'
import type { Queries, Sql } from './connect.ts'
import type { Listener } from './listener.ts'

const CHANNEL = 'hourbank_access'
const ECHO_INTERVAL_MS = 400
/** The maximum age of a cache hit; a change takes effect on every node within a second. */
const TRUST_MS = 900

/** A change to a whole community's access, or to one of its tokens (hexadecimal hash). */
export interface AccessChange {
  communityId: number
  tokenHash?: string
}

export interface AccessChannel {
  /**
   * Whether every change committed more than a second ago has been received. NOTIFY is delivered in commit order, so
   * receiving our own echo sent at time T proves that everything before T was received. Without an echo (connection
   * down, a pooler that swallows LISTEN) nothing is proven.
   */
  isTrusted(): boolean
  close(): void
}

export interface AccessChannelOptions {
  listener: Listener
  /** The pool through which changes are announced. */
  announcing: Sql
  onChange: (change: AccessChange) => void
  /** Changes may have been missed: everything cached is stale. */
  onGap: () => void
}

/** Notifies every node, when the transaction commits, that access in this community changed. */
export async function announceAccessChange(sql: Queries, change: AccessChange): Promise<void> {
  const payload = change.tokenHash ? `${change.communityId}:${change.tokenHash}` : `${change.communityId}`
  await sql`select pg_notify(${CHANNEL}, ${payload})`
}

export function openAccessChannel(options: AccessChannelOptions): AccessChannel {
  const node = randomUUID()
  let receivedUntilMs = -Infinity
  let wasTrusted = false
  let isClosing = false

  function isTrusted(): boolean {
    return performance.now() - receivedUntilMs < TRUST_MS
  }

  function receive(payload: string): void {
    const [first = '', second] = payload.split(':')
    if (!payload.startsWith('echo:')) {
      return options.onChange({ communityId: Number(first), ...(second && { tokenHash: second }) })
    }
    const [, from, sentAtMs] = payload.split(':')
    if (from !== node) return
    // A late echo may hide a lost connection, so start over with an empty cache.
    if (!wasTrusted || !isTrusted()) options.onGap()
    wasTrusted = true
    receivedUntilMs = Number(sentAtMs)
  }

  function distrust(): void {
    receivedUntilMs = -Infinity
    options.onGap()
  }
  options.listener.listen(CHANNEL, { onMessage: receive, onListening: distrust, onLost: distrust })

  let timer: NodeJS.Timeout | undefined
  async function sendEcho(): Promise<void> {
    const sentAtMs = performance.now()
    try {
      await options.announcing`select pg_notify(${CHANNEL}, ${`echo:${node}:${sentAtMs}`})`
    } catch {
      // The database is unreachable. Without an echo the cache is not trusted; nothing else is needed here.
    }
    if (!isClosing) timer = setTimeout(sendEcho, Math.max(0, sentAtMs + ECHO_INTERVAL_MS - performance.now()))
  }
  void sendEcho()

  return {
    isTrusted,
    close() {
      isClosing = true
      clearTimeout(timer)
      receivedUntilMs = -Infinity
    },
  }
}
