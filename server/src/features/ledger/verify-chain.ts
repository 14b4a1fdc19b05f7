import type { Progress } from '../../core/progress.ts'
import type { Transaction } from '../../postgres/connect.ts'
import { FIRST_HASH, hashTransfer, LINK_VERSIONS } from './hash-transfer.ts'
import {
  countUnchained,
  findHead,
  findWaitingSeconds,
  listInserted,
  readChain,
  type ChainHead,
  type Link,
  type LinkedTransfer,
} from './queries.ts'
import type { KnownSeal } from './seal.ts'

/** Read at a time, to keep memory use constant. */
const ROWS_MAX = 1000
/** The chain usually grows every few seconds. What waits for so long could be changed unnoticed meanwhile. */
const LATE_SECONDS = 3600

export interface ChainDifference {
  message: string
  transfer_id?: number
  /** In the chain, counted from 1. */
  position?: number
}

export interface ChainReport {
  /** How many transfers the chain covers, and how many came after its end. */
  chained: number
  waiting: number
  /** Whether they wait although nothing was chained for an hour. */
  late: boolean
  found: ChainDifference[]
  /** Differences beyond `listedMax`. */
  more: number
}

export interface VerifyOptions {
  /** Heads that were published earlier. */
  seals: KnownSeal[]
  listedMax: number
  onProgress: (progress: Progress) => void
}

/**
 * Computes each link again from its transfer and the link before it, in the caller's snapshot. A link is compared with
 * the stored one before it, so a changed transfer is found where it is, and does not make all later ones look changed.
 */
export async function verifyChain(
  tx: Transaction,
  communityId: number,
  { seals, listedMax, onProgress }: VerifyOptions,
): Promise<ChainReport> {
  const found: ChainDifference[] = []
  let more = 0
  const report = (differences: ChainDifference[]) => {
    const listed = differences.slice(0, Math.max(0, listedMax - found.length))
    found.push(...listed)
    more += differences.length - listed.length
  }

  const head = await findHead(tx, communityId)
  let last: Link = { transfer_id: 0, position: 0, hash: FIRST_HASH }
  let done = 0
  const unseen = new Set(seals)
  for await (const rows of readChain(tx, communityId).cursor(ROWS_MAX)) {
    for (const row of rows) {
      report(checkLink(communityId, last, row))
      for (const seal of unseen) {
        if (seal.position !== row.position) continue
        unseen.delete(seal)
        report(compareSeal(seal, row))
      }
      last = row
    }
    done += rows.length
    onProgress({ done, total: head?.position, label: 'hashes' })
  }
  report(checkHead(head, last))
  for (const seal of unseen) report(checkUnseen(seal, last))

  const inserted = await listInserted(tx, communityId, { until: last.transfer_id, limit: listedMax })
  report(inserted.map(describeInserted))
  more += Math.max(0, (inserted[0]?.found ?? 0) - inserted.length)
  const waiting = await countUnchained(tx, communityId, last.transfer_id)
  const late = (await findWaitingSeconds(tx, communityId)) > LATE_SECONDS
  return { chained: last.position, waiting, late, found, more }
}

function checkLink(communityId: number, last: Link, row: LinkedTransfer): ChainDifference[] {
  const { position, transfer_id } = row
  const place = { transfer_id, position }
  if (row.id === null) {
    return [{ message: `Transfer ${transfer_id} at position ${position} of the chain was deleted.`, ...place }]
  }
  if (position !== last.position + 1) {
    const message = `The chain goes from position ${last.position} to ${position}, which is transfer ${transfer_id}.`
    return [{ message, ...place }]
  }
  // The version is part of what is hashed, so a link fits one of them at most.
  if (LINK_VERSIONS.some((version) => hashTransfer(last.hash, communityId, row, version) === row.hash)) return []
  const message = `Transfer ${transfer_id} at position ${position} of the chain is not what it was when it was chained.`
  return [{ message, ...place }]
}

function checkHead(head: ChainHead | undefined, last: Link): ChainDifference[] {
  const expected = head ?? { position: 0, transfer_id: 0, hash: FIRST_HASH }
  const isEqual =
    expected.position === last.position && expected.transfer_id === last.transfer_id && expected.hash === last.hash
  if (isEqual) return []
  const message =
    `The chain ends at position ${last.position} with transfer ${last.transfer_id}, but should end at ` +
    `position ${expected.position} with transfer ${expected.transfer_id}.`
  return [{ message, transfer_id: expected.transfer_id, position: expected.position }]
}

/** The links up to the position are verified one by one, so the last hash stands for all of them. */
function compareSeal(seal: KnownSeal, { position, transfer_id, hash }: Link): ChainDifference[] {
  if (hash === seal.hash) return []
  const message =
    `Position ${position} of the chain, transfer ${transfer_id}, has another hash than ${describeSeal(seal)}: ` +
    'the ledger up to there is not the one that was sealed.'
  return [{ message, transfer_id, position }]
}

function checkUnseen(seal: KnownSeal, last: Link): ChainDifference[] {
  const { position, transfer_id } = seal
  // Sealed before the first transfer.
  if (position === 0 && seal.hash === FIRST_HASH) return []
  const where = position > last.position ? `ends at position ${last.position}` : `has no position ${position}`
  const message =
    `The chain ${where}, but ${describeSeal(seal)} is for position ${position}` +
    `${transfer_id === undefined ? '' : `, transfer ${transfer_id}`}: ` +
    'sealed transfers are missing, as after a restore of an older backup.'
  return [{ message, ...(transfer_id !== undefined && { transfer_id }), position }]
}

function describeSeal({ sealed_at }: KnownSeal): string {
  return sealed_at === undefined ? 'the seal' : `the seal of ${sealed_at}`
}

function describeInserted({ id, position }: { id: number; position: number }): ChainDifference {
  const message = `Transfer ${id} is not in the chain, but should come after position ${position}: it was inserted later.`
  return { message, transfer_id: id, position }
}
