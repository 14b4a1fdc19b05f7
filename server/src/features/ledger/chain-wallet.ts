import { setTimeout as pause } from 'node:timers/promises'
import type { Sql, Transaction } from '../../postgres/connect.ts'
import { chainLedger } from './chain-ledger.ts'
import { findHead, hasUnchained, type ChainHead } from './queries.ts'

/** Somebody waits for a statement to print, and it is correct without the chain's head, so do not wait long. */
const TIMEOUT_MS = 1000
/** While another node adds links. */
const RETRY_MS = 50

/** Chains the transfers of a member's wallet, with all others of the community, as far as a second allows. */
export async function chainWallet(sql: Sql, communityId: number, memberId: number): Promise<void> {
  const endsAtMs = performance.now() + TIMEOUT_MS
  const isStopped = () => performance.now() > endsAtMs
  while (!isStopped() && (await hasUnchained(sql, communityId, memberId))) {
    if ((await chainLedger(sql, communityId, { isStopped })) === 0) await pause(RETRY_MS)
  }
}

/** Returns the end of the chain if it covers all transfers of the wallet: a paper with it must not prove less than it shows. */
export async function findHeadOfWallet(
  tx: Transaction,
  communityId: number,
  memberId: number,
): Promise<ChainHead | undefined> {
  return (await hasUnchained(tx, communityId, memberId)) ? undefined : findHead(tx, communityId)
}
