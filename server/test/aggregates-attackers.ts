import { ATTACKER, dice, REGULARS, type Deed } from './aggregates-lives.ts'

/*
 * The attacker is a partner. It credits what it likes, reads the aggregates after every close for years (they do not move
 * in between), and remembers. What it must not learn is whether one member did one thing: docs/decisions/0010 has the
 * promise that is checked here, in the same words.
 */

/** What it does in a month, knowing all it was answered before. */
export type Attacker = (month: number, answers: string[]) => Probes

interface Probes {
  credits: { member: number; centihours: number }[]
  /** The oldest of its credits. */
  takesBack?: boolean
}

/** The same to a dozen members, so that its part is told whenever it alone decides. */
export const steady: Attacker = () => ({
  credits: Array.from({ length: REGULARS }, (_, n) => ({ member: n + 1, centihours: 100 })),
})

/** Grows one member's part month by month, watching for the month in which it is too much: that tells what the rest is. */
export const weigher: Attacker = (month, answers) => ({
  credits: [...steady(month, answers).credits, { member: 1, centihours: 200 * (month % 20) }],
})

/**
 * Bisects: lays the edges of buckets where it wants to look, by what it credits itself. At times it tries what one large
 * credit does, does nothing, or takes an old credit back.
 */
export function prober(seed: number, members: number): Attacker {
  const { below, chance } = dice(seed)
  const crowd = Math.min(REGULARS, members)
  const OTHERS_MAX = 1_000_000
  let spent = 0
  let [low, high] = [0, OTHERS_MAX]
  return (month, answers) => {
    const last = answers.at(-1) && JSON.parse(answers.at(-1)!).data.flows.hours_credited.periods.at(-1)
    if (last?.figure.min !== undefined) {
      // What the others must have had, if they do every month as they did in this one.
      low = Math.max(low, last.figure.min * 100 - spent)
      high = Math.min(high, last.figure.max * 100 + 99 - spent)
      if (low > high) [low, high] = [0, OTHERS_MAX]
    }
    const takesBack = month % 5 === 4
    if (chance(0.1)) {
      spent = 0
      return { credits: chance(0.5) ? [{ member: 1 + below(crowd), centihours: 100_000 }] : [], takesBack }
    }
    spent = 24_000 + (1000 - (Math.round((low + high) / 2) % 1000))
    const share = Math.floor(spent / crowd)
    const credits = Array.from({ length: crowd }, (_, n) => ({ member: 1 + n, centihours: share }))
    credits[0]!.centihours += spent - share * crowd
    return { credits, takesBack }
  }
}

/** The attacker's deeds of a month. */
export function attackerOf(attacker: Attacker): (month: number, answers: string[]) => Deed[] {
  const mine: (Deed & { kind: 'credit' })[] = []
  return (month, answers) => {
    const { credits, takesBack } = attacker(month, answers)
    const made = credits.map((input) => ({ kind: 'credit', month, partner: ATTACKER, ...input }) as const)
    const old = takesBack ? mine.shift() : undefined
    mine.push(...made)
    return old ? [...made, { kind: 'reversal', month, of: old }] : made
  }
}
