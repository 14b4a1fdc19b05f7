import { setTimeout as pause } from 'node:timers/promises'
import type { Progress } from '../../core/progress.ts'
import { syncHorizon } from '../../http/shared/page-queries.ts'
import { transaction, type Sql } from '../../postgres/connect.ts'
import { hashTransfer } from './hash-transfer.ts'
import {
  appendLinks,
  countUnchained,
  ensureHead,
  findHead,
  findLastTransfer,
  lockHead,
  readTransfers,
  type ChainHead,
} from './queries.ts'

/** Small, so that no transaction holds the horizon back for long: a batch takes some tens of milliseconds. */
export const BATCH_MAX = 1000
/** For transactions in flight, which usually end within milliseconds. What is not settled by then waits for the next run. */
const SETTLE_ATTEMPTS = 20
const SETTLE_PAUSE_MS = 50

export interface ChainOptions {
  /** Waits for another node that adds links, instead of leaving the community to it. */
  wait?: boolean
  onProgress?: (progress: Progress) => void
  /** Checked between batches. What is left is chained by the next call, here or on another node. */
  isStopped?: () => boolean
}

/** Adds all settled transfers of a community to its chain, and returns how many. */
export async function chainLedger(sql: Sql, communityId: number, options: ChainOptions = {}): Promise<number> {
  const { wait = false, onProgress = () => {}, isStopped = () => false } = options
  const until = await findSettled(sql, communityId)
  if (until === undefined) return 0
  await ensureHead(sql, communityId)
  const head = await findHead(sql, communityId)
  const total = head && (await countUnchained(sql, communityId, head.transfer_id))
  let done = 0
  while (!isStopped()) {
    const chained = await chainBatch(sql, communityId, until, wait)
    done += chained
    onProgress({ done, total, label: '' })
    if (chained < BATCH_MAX) break
  }
  return done
}

/**
 * Returns the last transfer before which no other can appear any more; undefined if that is not known yet.
 *
 * A transfer gets its id while its transaction holds a wallet's lock, and so has a transaction id that the horizon waits
 * for (decision 27). Once the horizon is past the moment at which a transfer was seen, every transaction that took a
 * lower id has ended. The times of transfers cannot tell that: they are the start of their transactions, which may have
 * waited for a lock without being noticed.
 */
async function findSettled(sql: Sql, communityId: number): Promise<number | undefined> {
  const last = await findLastTransfer(sql, communityId)
  if (!last) return undefined
  for (let attempt = 1; attempt <= SETTLE_ATTEMPTS; attempt += 1) {
    if ((await syncHorizon(sql, communityId)) > last.seen_at) return last.id
    await pause(SETTLE_PAUSE_MS)
  }
  return undefined
}

async function chainBatch(sql: Sql, communityId: number, until: number, wait: boolean): Promise<number> {
  return transaction(sql, async (tx) => {
    const head = await lockHead(tx, communityId, { wait })
    // Another node is at it, or the community was removed.
    if (!head) return 0
    const transfers = await readTransfers(tx, communityId, { after: head.transfer_id, until, limit: BATCH_MAX })
    if (transfers.length === 0) return 0
    let { position, hash }: Pick<ChainHead, 'position' | 'hash'> = head
    const links = transfers.map((transfer) => {
      position += 1
      hash = hashTransfer(hash, communityId, transfer)
      return { transfer_id: transfer.id, position, hash }
    })
    await appendLinks(tx, communityId, links)
    return links.length
  })
}
