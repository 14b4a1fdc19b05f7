import { isDay, toUtc, type Calendar } from '../../core/times.ts'
import type { DateOrder } from './layout-queries.ts'
import { because, type Reason } from '../../core/reasons.ts'

/** Excel adds midnight to a day if the cells have the wrong format. */
const LOCAL_DAY = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?: 0?0:00(?::00)?)?$/

export interface PastTime {
  time: string | null
  /** If the text says only the day: any time on it is right. */
  day: string | null
}

/** A day of which only the calendar knows that it does not exist. */
const POSSIBLE_DAY = /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:T|$)/

/**
 * Adds to `problems` if the text is not a time in the past. A date without a time means noon where the community is, or
 * now if today's noon is still to come.
 */
export function readPastTime(
  text: string,
  column: 'joined_at' | 'created_at',
  { dates, calendar }: { dates: DateOrder; calendar: Calendar },
  problems: Reason[],
): PastTime {
  const date = readLocalDay(text, dates)
  const day = isDay(date) ? date : null
  const time = day === null ? toUtc(text) : readDay(day, calendar)
  const [, possible] = POSSIBLE_DAY.exec(date) ?? []
  if (time === undefined && possible !== undefined && !isDay(possible)) {
    problems.push(because(`${column}_no_day`, { day: text.split(/[T ]/, 1)[0]! }))
  } else if (time === undefined) {
    const example = dates === 'month_first' ? '5/31/2024' : '31.5.2024'
    problems.push(because(`${column}_form`, { example }))
  } else if (day === null ? Date.parse(time) > Date.now() : day > calendar.today()) {
    problems.push(because(`${column}_future`))
  }
  return { time: time ?? null, day }
}

/** Undefined for a day on which it is noon outside of the years that can be stored. */
function readDay(day: string, calendar: Calendar): string | undefined {
  return toUtc(new Date(Math.min(calendar.noonMs(day), Date.now())).toISOString())
}

/** Returns 2024-05-31 for 31.5.2024 and the like, and other text unchanged. */
function readLocalDay(text: string, order: DateOrder): string {
  const [, first, separator, second, year] = LOCAL_DAY.exec(text) ?? []
  if (first === undefined || second === undefined) return text
  const isMonthFirst = order === 'month_first' && separator !== '.'
  const [day, month] = isMonthFirst ? [second, first] : [first, second]
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
}
