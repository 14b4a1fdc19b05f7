import type { Transfer } from './read-statement.ts'

export interface Merged {
  transfers: Transfer[]
  /** How many were there again: in a second file, or in a report of the day and in its statement. */
  repeated: number
  /** Different transfers under one identity: crediting either would be a guess. */
  contradictions: Transfer[]
}

/** The same transfer may stand in several files; it is settled once. */
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
      // Reports in the course of a day often know less, for instance no remittance.
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
