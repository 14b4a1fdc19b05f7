import { msg } from '@lingui/core/macro'
import { useMemo } from 'react'
import { addDays, endOfDay, startOfDay, today } from '../../parts/day.ts'
import { useTimeZone } from '../../parts/time.tsx'
import type { CallFilters } from './search.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Between two days: the fields for them are shown. */
export const DAYS = 'days'
export const LAST_DAY = '24h'

/** Whole days of the community's calendar: how many days ago they began and ended. */
const CALENDAR: Record<string, { began: number; ended?: number }> = {
  today: { began: 0 },
  yesterday: { began: 1, ended: 0 },
}

const LENGTHS_MS: Record<string, number> = { '1h': HOUR_MS, [LAST_DAY]: DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS }

export const PERIODS = [
  { value: '1h', label: msg`Last hour` },
  { value: 'today', label: msg`Today` },
  { value: 'yesterday', label: msg`Yesterday` },
  { value: LAST_DAY, label: msg`Last 24 hours` },
  { value: '7d', label: msg`Last 7 days` },
  { value: '30d', label: msg`Last 30 days` },
  { value: DAYS, label: msg`Between two days` },
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

function boundsOf(
  { period, since, until }: { period?: string | undefined; since?: string | undefined; until?: string | undefined },
  zone: string,
  nowMs: number,
): Bounds {
  const length = LENGTHS_MS[period ?? '']
  if (length !== undefined) return { from: new Date(nowMs - length).toISOString() }
  const calendar = CALENDAR[period ?? '']
  if (calendar) {
    const { began, ended } = calendar
    const dayAgo = (days: number) => startOfDay(addDays(today(zone, nowMs), -days), zone)
    return boundsFrom(dayAgo(began), ended === undefined ? undefined : dayAgo(ended))
  }
  if (period !== DAYS) return {}
  return boundsFrom(startOfDay(since, zone), endOfDay(until, zone))
}

function boundsFrom(from: string | undefined, until: string | undefined): Bounds {
  return { ...(from && { from }), ...(until && { until }) }
}
