import type { Measured } from './load/job.ts'

/** The service against something else that does the same, or less. */
export interface Contest {
  name: string
  title: string
  against: string
  /** Where a ratio must hold, by number of connections. */
  bars: Record<number, number>
  /** Where it is looked at in a whole run. */
  connections: number[]
  ours: Side
  theirs: Side
}

export type Side = (connections: number, times: Times) => Promise<Measured>

export interface Times {
  warmUpMs: number
  measureMs: number
}

/** Both sides at one number of connections, round by round. */
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
  /** Once per contest and side, before anything is measured: until code is compiled and statements are prepared. */
  firstWarmUpMs: number
  times: Times
  /** Only where there is a bar. */
  barsOnly: boolean
}

/** Side by side: each round has both, and the one that begins changes, so that what else the machine does hits both. */
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
      for (const side of round % 2 === 1 ? sides : sides.toReversed()) {
        outcome[side].push(await contest[side](connections, plan.times))
      }
    }
    outcomes.push(outcome)
  }
  return outcomes
}
