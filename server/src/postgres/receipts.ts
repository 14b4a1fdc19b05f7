import type { Sql } from './connect.ts'
import type { Listener } from './listener.ts'

const CHANNEL = 'hourbank_access_heard'

export interface ReceiptsOptions {
  listener: Listener
  /** The pool through which receipts are sent. */
  background: Sql
  /** The name of this node. */
  node: string
  /** For how long a node trusts its cache after an echo. */
  trustMs: number
}

/** Lets a node wait until every other node has heard of a change. */
export interface Receipts {
  /** Another node has sent an echo, so it may trust its cache for a while. */
  noteEcho(peer: string): void
  /** A change arrived over the listening connection, after everything that was committed before it. */
  noteChange(id: string): void
  /**
   * Resolves when every node that may trust its cache has heard of this change. A node that does not answer has lost its
   * connection: it does not trust its cache for longer than `trustMs` without one. A node that hears nothing itself gets
   * no receipts, and waits as long.
   */
  collect(id: string): Promise<void>
}

/** What is known of a change. Its notification and its receipts may arrive before its own transaction resolves. */
interface Progress {
  receivedFrom: Set<string>
  /** Undefined until this node has heard of the change itself, and so of every echo before it. */
  missing: Set<string> | undefined
  isComplete: boolean
  /** Set while somebody waits. */
  finish: (() => void) | undefined
}

export function openReceipts({ listener, background, node, trustMs }: ReceiptsOptions): Receipts {
  const echoedAtMs = new Map<string, number>()
  // An entry lives for `trustMs`, whatever becomes of it.
  const changes = new Map<string, Progress>()

  function livePeers(): string[] {
    for (const [peer, atMs] of echoedAtMs) if (performance.now() - atMs > trustMs) echoedAtMs.delete(peer)
    return [...echoedAtMs.keys()]
  }

  function progressOf(id: string): Progress {
    const known = changes.get(id)
    if (known) return known
    const progress: Progress = { receivedFrom: new Set(), missing: undefined, isComplete: false, finish: undefined }
    changes.set(id, progress)
    setTimeout(() => {
      changes.delete(id)
      complete(progress)
    }, trustMs).unref()
    return progress
  }

  function complete(progress: Progress): void {
    progress.isComplete = true
    progress.finish?.()
  }

  async function sendReceipt(id: string): Promise<void> {
    try {
      await background`select pg_notify(${CHANNEL}, ${`${id}:${node}`})`
    } catch {
      // The other node waits a little longer; nothing else depends on it.
    }
  }

  function noteReceipt(payload: string): void {
    const [id = '', peer = ''] = payload.split(':')
    const progress = progressOf(id)
    progress.receivedFrom.add(peer)
    progress.missing?.delete(peer)
    if (progress.missing?.size === 0) complete(progress)
  }
  listener.listen(CHANNEL, { onMessage: noteReceipt })

  return {
    noteEcho: (peer) => void echoedAtMs.set(peer, performance.now()),

    noteChange(id) {
      const progress = progressOf(id)
      const peers = livePeers()
      progress.missing = new Set(peers.filter((peer) => !progress.receivedFrom.has(peer)))
      if (progress.missing.size === 0) complete(progress)
      if (peers.length === 0 || progress.finish) return
      void sendReceipt(id)
    },

    collect(id) {
      const progress = progressOf(id)
      return new Promise((resolve) => {
        progress.finish = resolve
        if (progress.isComplete) resolve()
      })
    },
  }
}
