import { hash } from 'node:crypto'

/** The versions of what is hashed, the current one first. Links of earlier ones stay: they cover no references. */
export const LINK_VERSIONS = [2, 1] as const
type LinkVersion = (typeof LINK_VERSIONS)[number]
/** Stands before the first link. */
export const FIRST_HASH = '0'.repeat(64)

/** What the chain covers of a transfer: nothing that erasing a member changes. */
export interface ChainedTransfer {
  id: number
  kind: string
  debit_account_id: number
  /** `member 7`, `partner 2` or `community`: an account that is given to somebody else is noticed too. */
  debit_owner: string | null
  credit_account_id: number
  credit_owner: string | null
  amount: number
  debit_balance_after: number | null
  credit_balance_after: number | null
  reverses_id: number | null
  listing_id: number | null
  made_by_kind: string
  made_by_id: number | null
  occurred_on: string
  /** In UTC with microseconds. */
  created_at: string
  /** With which a partner made a credit. */
  reference: string | null
  /** With which a partner reversed one. */
  reversal_reference: string | null
}

/**
 * Hashes a transfer together with the link before it. The hash is SHA-256 in hexadecimal, of the previous hash, a line
 * break, and a JSON array without spaces, so that anyone can compute it again.
 */
export function hashTransfer(
  previousHash: string,
  communityId: number,
  transfer: ChainedTransfer,
  version: LinkVersion = LINK_VERSIONS[0],
): string {
  const fields = [
    version,
    communityId,
    transfer.id,
    transfer.kind,
    transfer.debit_account_id,
    transfer.debit_owner,
    transfer.credit_account_id,
    transfer.credit_owner,
    transfer.amount,
    transfer.debit_balance_after,
    transfer.credit_balance_after,
    transfer.reverses_id,
    transfer.listing_id,
    transfer.made_by_kind,
    transfer.made_by_id,
    transfer.occurred_on,
    transfer.created_at,
    ...(version === 1 ? [] : [transfer.reference, transfer.reversal_reference]),
  ]
  return hash('sha256', `${previousHash}\n${JSON.stringify(fields)}`, 'hex')
}
