import { randomUUID } from 'node:crypto'
import type { Sql, Transaction } from './connect.ts'
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
  /** The pool through which the echo is sent. */
  background: Sql
  /** The pools of this node whose transactions change access: it hears of those changes before they are answered. */
  changing: Sql[]
  onChange: (change: AccessChange) => void
  /** Changes may have been missed: everything cached is stale. */
  onGap: () => void
}

/** Notifies every node that access in this community changed: this one with the commit, the others within a second. */
export async function announceAccessChange(tx: Transaction, change: AccessChange): Promise<void> {
  await tx.announce(CHANNEL, change.tokenHash ? `${change.communityId}:${change.tokenHash}` : `${change.communityId}`)
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
  for (const pool of options.changing) pool.onAnnounced(CHANNEL, receive)
  options.listener.listen(CHANNEL, { onMessage: receive, onListening: distrust, onLost: distrust })

  let timer: NodeJS.Timeout | undefined
  async function sendEcho(): Promise<void> {
    const sentAtMs = performance.now()
    try {
      await options.background`select pg_notify(${CHANNEL}, ${`echo:${node}:${sentAtMs}`})`
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
