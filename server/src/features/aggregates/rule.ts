import { isBucket, type Figure } from './figures.ts'

/** The members' contributions to a figure, in centihours or counted items. */
export interface Contributions {
  /** Number of distinct members who contribute. */
  members: number
  /** The sum, minus reversals of earlier periods. */
  total: number
  /** The two largest members' parts. Reversals count with their absolute value. */
  largest: number
  second: number
}

export interface Rule {
  readonly membersMin: number
  /** Otherwise a figure would say of everyone that they contribute: 10 to 19 traders in a community of twelve. */
  readonly outsidersMin: number
  /** Number of members who must have changed a stock before it is published again. */
  readonly changersMin: number
  /** Minimum ratio of the total to the largest part: one member contributes at most half. */
  readonly wholePerLargestMin: number
  /** Maximum ratio of the largest part to the rest without the two largest: the rest is at least a tenth of it. */
  readonly largestPerRestMax: number
}

export const RULE: Rule = {
  membersMin: 10,
  outsidersMin: 10,
  changersMin: 10,
  wholePerLargestMin: 2,
  largestPerRestMax: 10,
}

/**
 * Whether a sum hides each of its parts, even from one of the two largest contributors or someone who knows both, and
 * hides who contributes among `visibleMembers`. If two sums of different sources satisfy the rule, so does their sum; it
 * is enough to check each source by itself.
 */
export function hidesEveryone(
  { members, total, largest, second }: Contributions,
  visibleMembers: number,
  rule: Rule = RULE,
): boolean {
  return (
    members >= rule.membersMin &&
    members + rule.outsidersMin <= visibleMembers &&
    largest * rule.wholePerLargestMin <= total &&
    largest <= (total - largest - second) * rule.largestPerRestMax
  )
}

/**
 * How many members partners can see at least, by the published figure: fewer than `changersMin` have gone since. The exact
 * number must not decide what is published, because each single member would change it.
 */
export function visibleMembersMin(activeMembers: Figure, rule: Rule = RULE): number {
  return isBucket(activeMembers) ? activeMembers.min - (rule.changersMin - 1) : 0
}

/** The contributions if each member counts once. */
export function countOf(members: number): Contributions {
  return { members, total: members, largest: Math.min(members, 1), second: members > 1 ? 1 : 0 }
}
