import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Sql, Transaction } from './connect.ts'
import type { Listener } from './listener.ts'
import { openReceipts } from './receipts.ts'

const CHANNEL = 'hourbank_access'
const ECHO_INTERVAL_MS = 400
/** The maximum age of a cache hit; a change takes effect on every node within a second. */
const TRUST_MS = 900
/** A connection for notifications that has been open this long without any is reported. */
const SILENCE_MS = 10_000

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
  log?: Logger | undefined
}

/**
 * Notifies every node that access in this community changed. A transaction of a node resolves when all nodes have heard
 * of it; after one of a command they have within a second. Nodes of earlier versions read the first two fields.
 */
export async function announceAccessChange(tx: Transaction, change: AccessChange): Promise<void> {
  await tx.announce(CHANNEL, `${change.communityId}:${change.tokenHash ?? ''}:${randomUUID()}`)
}

export function openAccessChannel(options: AccessChannelOptions): AccessChannel {
  const node = randomUUID()
  let receivedUntilMs = -Infinity
  let wasTrusted = false
  let isClosing = false
  let isListening = false
  /** When a notification arrived last, or the connection for them was made. Infinity once silence was reported. */
  let heardAtMs = Infinity
  const { listener, background, log } = options
  const receipts = openReceipts({ listener, background, node, trustMs: TRUST_MS })

  function isTrusted(): boolean {
    return performance.now() - receivedUntilMs < TRUST_MS
  }

  /** Returns the id of the change; nodes of earlier versions send none. */
  function applyChange(payload: string): string | undefined {
    const [communityId, tokenHash, id] = payload.split(':')
    options.onChange({ communityId: Number(communityId), ...(tokenHash && { tokenHash }) })
    return id
  }

  /** Before the answer to a change of this node: nobody may succeed elsewhere after it. */
  async function receiveOwn(payload: string): Promise<void> {
    const id = applyChange(payload)
    if (id) await receipts.collect(id)
  }

  function receive(payload: string): void {
    heardAtMs = performance.now()
    if (!payload.startsWith('echo:')) {
      const id = applyChange(payload)
      if (id) receipts.noteChange(id)
      return
    }
    const [, from = '', sentAtMs] = payload.split(':')
    if (from !== node) return receipts.noteEcho(from)
    // A late echo may hide a lost connection, so start over with an empty cache.
    if (!wasTrusted || !isTrusted()) options.onGap()
    wasTrusted = true
    receivedUntilMs = Number(sentAtMs)
  }

  function distrust(): void {
    receivedUntilMs = -Infinity
    options.onGap()
  }

  /** Without notifications everything works, only slower, so that nobody would notice. */
  function watchSilence(): void {
    if (!isListening || performance.now() - heardAtMs <= SILENCE_MS) return
    heardAtMs = Infinity
    log?.warn(
      'no notifications arrive, so every request asks the database for its token; if there is a pooler, or ' +
        'DATABASE_LISTEN_URL names another database, set it to a direct connection to this one',
    )
  }

  for (const pool of options.changing) pool.onAnnounced(CHANNEL, receiveOwn)
  listener.listen(CHANNEL, {
    onMessage: receive,
    onListening() {
      isListening = true
      heardAtMs = performance.now()
      distrust()
    },
    onLost() {
      isListening = false
      distrust()
    },
  })

  let timer: NodeJS.Timeout | undefined
  async function sendEcho(): Promise<void> {
    const sentAtMs = performance.now()
    try {
      await background`select pg_notify(${CHANNEL}, ${`echo:${node}:${sentAtMs}`})`
      watchSilence()
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
