import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS
/** The most that a chart can show; calls are rarely kept for so long. */
const PERIOD_MAX_MS = 366 * DAY_MS
/** No call is older. Periods before it are empty, and need not be days that PostgreSQL can compute with. */
const EARLIEST_MS = Date.UTC(2000, 0, 1)

/** The first that is long enough: at most a few dozen steps each, except for months of days. */
const STEPS = [
  { upToMs: 3 * HOUR_MS, step: '5 minutes' },
  { upToMs: 2 * DAY_MS, step: '1 hour' },
  { upToMs: PERIOD_MAX_MS, step: '1 day' },
] as const

/** Completes a period and chooses the steps in which it is shown. */
export function readChartPeriod(
  { from, until }: { from?: string; until?: string },
  nowMs: number,
): { from: string; until: string; step: string } {
  const endMs = Math.max(until === undefined ? nowMs : Date.parse(until), EARLIEST_MS)
  const startMs = Math.max(from === undefined ? endMs - DAY_MS : Date.parse(from), EARLIEST_MS)
  const found = STEPS.find(({ upToMs }) => endMs - startMs <= upToMs)
  if (!found) throw new Refusal(because('period_too_long'), { field: 'from' })
  return { from: new Date(startMs).toISOString(), until: new Date(endMs).toISOString(), step: found.step }
}
