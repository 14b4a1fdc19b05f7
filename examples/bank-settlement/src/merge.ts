import type { Transfer } from './read-statement.ts'

export interface Merged {
  transfers: Transfer[]
  /** Not to be settled before the statement contains them. */
  waiting: Transfer[]
  /** The number of repeated transfers: in a second file, or in both a notification or report and the statement. */
  repeated: number
  /** Different transfers with one identity, or one payment with two: crediting either would be a guess. */
  contradictions: Transfer[]
}

/** Merges the files: a transfer that occurs in several is settled once. */
export function mergeTransfers(all: readonly Transfer[]): Merged {
  const totals = findBatchTotals(all)
  const byIdentity = new Map<string, Transfer>()
  const contradictions: Transfer[] = []
  let repeated = totals.size
  for (const transfer of all) {
    if (totals.has(transfer)) continue
    const key = `${transfer.kind} ${transfer.identity}`
    const known = byIdentity.get(key)
    if (known === undefined) {
      byIdentity.set(key, transfer)
    } else if (isSame(known, transfer)) {
      repeated += 1
      byIdentity.set(key, combine(known, transfer))
    } else {
      contradictions.push(transfer)
    }
  }
  // Parts of a batch belong to the statement that has only its total.
  const finalEntries = new Set([...totals].filter(({ isFinal }) => isFinal).map(({ entry }) => entry))
  const transfers = [...byIdentity.values()].map((transfer) =>
    finalEntries.has(transfer.entry) ? { ...transfer, isFinal: true } : transfer,
  )
  const settled = transfers.filter(isSettled)
  const renamed = findRenamed(settled)
  return {
    transfers: settled.filter((transfer) => !renamed.has(transfer)),
    waiting: transfers.filter((transfer) => !isSettled(transfer)),
    repeated,
    contradictions: [...contradictions, ...renamed],
  }
}

/** An entry that lacks the bank's reference may have it in the statement, and would be credited again under it. */
function isSettled({ isFinal, hasBankReference }: Transfer): boolean {
  return isFinal || hasBankReference
}

/** Finds payments that have the bank's reference in one file, and are known by other ids in another. */
function findRenamed(transfers: readonly Transfer[]): Set<Transfer> {
  const byId = new Map<string, Transfer[]>()
  for (const transfer of transfers) {
    const { kind, account, bookedOn, amount, currency, transactionIds } = transfer
    for (const id of transactionIds) {
      // Some banks give several payments the same id, so amount and day have to be the same too.
      const key = JSON.stringify([kind, account, id, bookedOn, `${amount}`, currency])
      byId.set(key, [...(byId.get(key) ?? []), transfer])
    }
  }
  const renamed = [...byId.values()].filter(
    (same) =>
      same.some(({ hasBankReference }) => hasBankReference) && !same.every(({ hasBankReference }) => hasBankReference),
  )
  return new Set(renamed.flat())
}

/** Finds the totals of batches whose parts another file has, such as a notification beside its statement. */
function findBatchTotals(all: readonly Transfer[]): Set<Transfer> {
  const parts = new Map<string, Map<string, bigint>>()
  for (const { entry, identity, amount, hasDetails } of all) {
    if (!hasDetails) continue
    if (!parts.has(entry)) parts.set(entry, new Map())
    parts.get(entry)!.set(identity, amount)
  }
  const isTotal = ({ entry, amount, hasDetails }: Transfer) => {
    const amounts = [...(parts.get(entry)?.values() ?? [])]
    return !hasDetails && amounts.length > 1 && amounts.reduce((sum, part) => sum + part, 0n) === amount
  }
  return new Set(all.filter(isTotal))
}

function isSame(one: Transfer, other: Transfer): boolean {
  return one.bookedOn === other.bookedOn && one.amount === other.amount && one.currency === other.currency
}

/** Prefers the one that says more: with details, or else from the statement. A report often has no remittance text. */
function combine(known: Transfer, other: Transfer): Transfer {
  const isKnownBetter = known.hasDetails === other.hasDetails ? known.isFinal : known.hasDetails
  return { ...(isKnownBetter ? known : other), isFinal: known.isFinal || other.isFinal }
}
