import { formatDate } from '../language/formats.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** A day of a calendar, like 2026-01-31; from an address it may be anything. */
function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`))
}

/** When a day begins in a zone, as the service takes it. Undefined for what is no day. */
export function startOfDay(day: string | undefined, timeZone: string): string | undefined {
  if (!day || !isDay(day)) return undefined
  const midnight = Date.parse(`${day}T00:00:00Z`)
  // The offset of a place changes through the year; the second look is at the right side of a change.
  const guess = midnight - offsetMs(midnight, timeZone)
  const start = midnight - offsetMs(guess, timeZone)
  // Where clocks go forward at midnight, there is none: the second look may be at the day before.
  return new Date(today(timeZone, start) === day ? start : guess).toISOString()
}

/** When the day after it begins: for 'until and with'. */
export function endOfDay(day: string | undefined, timeZone: string): string | undefined {
  if (!day || !isDay(day)) return undefined
  return startOfDay(new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10), timeZone)
}

/** Today where the community is, like 2026-01-31. */
export function today(timeZone: string, now = Date.now()): string {
  return new Date(now + offsetMs(now, timeZone)).toISOString().slice(0, 10)
}

/** The day of a moment in a zone. */
export function dayOf(moment: string, timeZone: string): string {
  return today(timeZone, Date.parse(moment))
}

/** What ends when a day begins still belongs to the day before. */
export function lastMomentBefore(end: string): string {
  return new Date(Date.parse(end) - 1).toISOString()
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}

function offsetMs(time: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(time)
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value)
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return local - Math.floor(time / 1_000) * 1_000
}

/** '31 Jan 2026' for a day that belongs to no zone. */
export function formatDay(day: string, locale?: string): string {
  const options = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const
  return formatDate(new Date(`${day}T00:00:00Z`), options, locale)
}

/** The same day some months earlier, or the last one of a shorter month. */
export function monthsBefore(day: string, months: number): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number]
  const last = new Date(Date.UTC(year, month - months, 0)).getUTCDate()
  return new Date(Date.UTC(year, month - 1 - months, Math.min(date, last))).toISOString().slice(0, 10)
}
