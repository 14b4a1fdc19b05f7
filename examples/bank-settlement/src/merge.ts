import type { Transfer } from './read-statement.ts'

export interface Merged {
  transfers: Transfer[]
  /** The number of repeated transfers: in a second file, or in both a daily report and its statement. */
  repeated: number
  /** Different transfers with the same identity: crediting either would be a guess. */
  contradictions: Transfer[]
}

/** Merges the files: a transfer that occurs in several is settled once. */
export function mergeTransfers(all: readonly Transfer[]): Merged {
  const byIdentity = new Map<string, Transfer>()
  const contradictions: Transfer[] = []
  let repeated = 0
  for (const transfer of all) {
    const key = `${transfer.kind} ${transfer.identity}`
    const known = byIdentity.get(key)
    if (known === undefined) {
      byIdentity.set(key, transfer)
    } else if (isSame(known, transfer)) {
      repeated += 1
      // Reports during the day often have less information, for example no remittance text.
      if (!known.isFinal) byIdentity.set(key, transfer)
    } else {
      contradictions.push(transfer)
    }
  }
  return { transfers: [...byIdentity.values()], repeated, contradictions }
}

function isSame(one: Transfer, other: Transfer): boolean {
  return one.bookedOn === other.bookedOn && one.amount === other.amount && one.currency === other.currency
}
