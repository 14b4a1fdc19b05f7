import { useMemo } from 'react'
import { useTimeZone } from '../../parts/time.tsx'
import type { CallFilters } from './search.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Between two days: the fields for them are shown. */
export const DAYS = 'days'

const LENGTHS_MS: Record<string, number> = { '1h': HOUR_MS, '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS }

export const PERIODS = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: DAYS, label: 'Between two days' },
]

interface Bounds {
  from?: string
  until?: string
}

/** What the service is asked for. Fixed while the choice stays the same, so that a list can be read on page by page. */
export function usePeriod({ period, since, until }: CallFilters): Bounds {
  const zone = useTimeZone()
  return useMemo(() => boundsOf({ period, since, until }, zone, Date.now()), [period, since, until, zone])
}

export function boundsOf(
  { period, since, until }: { period?: string | undefined; since?: string | undefined; until?: string | undefined },
  zone: string,
  nowMs: number,
): Bounds {
  const length = LENGTHS_MS[period ?? '']
  if (length !== undefined) return { from: new Date(nowMs - length).toISOString() }
  if (period !== DAYS) return {}
  const [from, end] = [since && startOfDay(since, zone), until && startOfDay(nextDay(until), zone)]
  return { ...(from && { from }), ...(end && { until: end }) }
}

function nextDay(day: string): string {
  const time = Date.parse(`${day}T12:00:00Z`)
  return Number.isNaN(time) ? '' : new Date(time + DAY_MS).toISOString().slice(0, 10)
}

/** The moment at which a day begins in a zone. Undefined for what is no day. */
function startOfDay(day: string, zone: string): string | undefined {
  const utc = Date.parse(`${day}T00:00:00Z`)
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(utc)) return undefined
  // Twice, because the offset at the first guess may be that of the other side of a change of the clocks.
  const guess = utc - offsetAt(utc, zone)
  return new Date(utc - offsetAt(guess, zone)).toISOString()
}

/** By how much the clocks of a zone are ahead of UTC. */
function offsetAt(timeMs: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(timeMs)
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value)
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return local - Math.floor(timeMs / 1000) * 1000
}
