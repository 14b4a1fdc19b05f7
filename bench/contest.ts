import type { Measured } from './load/job.ts'

/** Compares the service with something that does the same, or less. */
export interface Contest {
  name: string
  title: string
  against: string
  /** The minimum ratio by number of connections. */
  bars: Record<number, number>
  /** The numbers of connections measured in a complete run. */
  connections: number[]
  ours: Side
  theirs: Side
}

export type Side = (connections: number, times: Times) => Promise<Measured>

export interface Times {
  warmUpMs: number
  measureMs: number
}

/** The results of both sides for one number of connections, one entry per round. */
export interface Outcome {
  name: string
  title: string
  against: string
  connections: number
  bar: number | undefined
  ours: Measured[]
  theirs: Measured[]
}

export interface Plan {
  rounds: number
  /** Once per contest and side, so that code is compiled and statements are prepared before the first measurement. */
  firstWarmUpMs: number
  times: Times
  /** Measures only the numbers of connections that have a bar. */
  barsOnly: boolean
}

/** Measures both sides in every round, in alternating order, so that other load on the machine affects both equally. */
export async function hold(contest: Contest, plan: Plan, onProgress: (text: string) => void): Promise<Outcome[]> {
  const { name, title, against, bars } = contest
  const outcomes: Outcome[] = []
  const wanted = contest.connections.filter((connections) => !plan.barsOnly || bars[connections] !== undefined)
  onProgress(`${name}, warming up`)
  for (const side of ['ours', 'theirs'] as const) {
    await contest[side](Math.max(...wanted), { warmUpMs: plan.firstWarmUpMs, measureMs: 0 })
  }
  for (const connections of wanted) {
    const bar = bars[connections]
    const outcome: Outcome = { name, title, against, connections, bar, ours: [], theirs: [] }
    for (let round = 1; round <= plan.rounds; round++) {
      onProgress(`${name}, ${connections} connections, round ${round} of ${plan.rounds}`)
      const sides = ['ours', 'theirs'] as const
      const pair: Partial<Record<(typeof sides)[number], Measured>> = {}
      for (const side of round % 2 === 1 ? sides : sides.toReversed()) {
        pair[side] = await contest[side](connections, plan.times)
      }
      // The machine stood still; there is nothing to compare.
      if (sides.some((side) => pair[side]!.perSecond === 0)) continue
      for (const side of sides) outcome[side].push(pair[side]!)
    }
    outcomes.push(outcome)
  }
  return outcomes
}
