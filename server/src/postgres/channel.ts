import { randomUUID } from 'node:crypto'
import type { Queries, Sql } from './connect.ts'
import type { Listener } from './listener.ts'

const CHANNEL = 'hourbank_access'
const ECHO_INTERVAL_MS = 400
/** What was cached may be this old at most; so a change holds on every node within a second. */
const TRUST_MS = 900

/** What changed: a whole community's access, or one token of it (hexadecimal hash). */
export interface AccessChange {
  communityId: number
  tokenHash?: string
}

export interface AccessChannel {
  /**
   * Whether every change committed more than a second ago has been heard. NOTIFY is delivered in commit order, so hearing our
   * own echo sent at time T proves that everything before T was heard. Without the echo (connection down, a pooler
   * that swallows LISTEN) nothing is.
   */
  isTrusted(): boolean
  close(): void
}

export interface AccessChannelOptions {
  listener: Listener
  /** The pool through which changes are announced. */
  announcing: Sql
  onChange: (change: AccessChange) => void
  /** Changes may have been missed: nothing remembered holds any longer. */
  onGap: () => void
}

/** Tells every node, when the transaction commits, that access in this community changed. */
export async function announceAccessChange(sql: Queries, change: AccessChange): Promise<void> {
  const payload = change.tokenHash ? `${change.communityId}:${change.tokenHash}` : `${change.communityId}`
  await sql`select pg_notify(${CHANNEL}, ${payload})`
}

export function openAccessChannel(options: AccessChannelOptions): AccessChannel {
  const node = randomUUID()
  let heardUntilMs = -Infinity
  let trustedBefore = false
  let closing = false

  function isTrusted(): boolean {
    return performance.now() - heardUntilMs < TRUST_MS
  }

  function hear(payload: string): void {
    const [first = '', second] = payload.split(':')
    if (!payload.startsWith('echo:')) {
      return options.onChange({ communityId: Number(first), ...(second && { tokenHash: second }) })
    }
    const [, from, sentAtMs] = payload.split(':')
    if (from !== node) return
    // A lapse of trust may hide a lost connection: begin anew.
    if (!trustedBefore || !isTrusted()) options.onGap()
    trustedBefore = true
    heardUntilMs = Number(sentAtMs)
  }

  function distrust(): void {
    heardUntilMs = -Infinity
    options.onGap()
  }
  options.listener.listen(CHANNEL, { onMessage: hear, onListening: distrust, onLost: distrust })

  let timer: NodeJS.Timeout | undefined
  async function echo(): Promise<void> {
    const sentAtMs = performance.now()
    try {
      await options.announcing`select pg_notify(${CHANNEL}, ${`echo:${node}:${sentAtMs}`})`
    } catch {
      // The database is away: without an echo the cache is not trusted, which is all that has to happen here.
    }
    if (!closing) timer = setTimeout(echo, Math.max(0, sentAtMs + ECHO_INTERVAL_MS - performance.now()))
  }
  void echo()

  return {
    isTrusted,
    close() {
      closing = true
      clearTimeout(timer)
      heardUntilMs = -Infinity
    },
  }
}
