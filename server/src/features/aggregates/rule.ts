/** Who is behind a figure, in the units of the ledger: hundredths of hours, or things counted. */
export interface Contributions {
  /** Distinct members behind what counts. */
  members: number
  /** What counts, less what was taken back of earlier periods. */
  total: number
  /** The parts of the two members with the most; what was taken back weighs like what was given. */
  largest: number
  second: number
}

export interface Rule {
  readonly membersMin: number
  /** Members who must have changed a stock before it is stated anew. */
  readonly changersMin: number
  /** The whole is at least so many times the largest part: at most half is one member's. */
  readonly wholePerLargestMin: number
  /** The largest part is at most so many times what remains without the two largest: at least a tenth remains. */
  readonly largestPerRestMax: number
}

export const RULE: Rule = { membersMin: 10, changersMin: 10, wholePerLargestMin: 2, largestPerRestMax: 10 }

/**
 * Whether a sum hides each of its parts, even from one of the two largest contributors or someone who knows both. What
 * two sums of different sources fulfil, their sum fulfils too: so it is enough to judge each source by itself.
 */
export function hidesEveryone({ members, total, largest, second }: Contributions, rule: Rule = RULE): boolean {
  return (
    members >= rule.membersMin &&
    largest * rule.wholePerLargestMin <= total &&
    largest <= (total - largest - second) * rule.largestPerRestMax
  )
}

/** Of members, each of whom counts once. */
export function countOf(members: number): Contributions {
  return { members, total: members, largest: Math.min(members, 1), second: members > 1 ? 1 : 0 }
}
