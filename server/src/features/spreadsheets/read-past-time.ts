import { isDay, toUtc } from '../../core/times.ts'
import type { DateOrder } from './layout-queries.ts'
import { because, type Reason } from '../../core/reasons.ts'

/** Excel adds midnight to a day if the cells have the wrong format. */
const LOCAL_DAY = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?: 0?0:00(?::00)?)?$/

/**
 * Adds to `problems` if the text is not a time in the past. A date without a time means noon UTC, which falls on that
 * date in nearly every time zone.
 */
export function readPastTime(
  text: string,
  column: 'joined_at' | 'created_at',
  order: DateOrder,
  problems: Reason[],
): string | null {
  const day = readLocalDay(text.trim(), order)
  const time = isDay(day) ? `${day}T12:00:00Z` : toUtc(text)
  if (time === undefined) {
    const example = order === 'month_first' ? '5/31/2024' : '31.5.2024'
    problems.push(because(`${column}_form`, { example }))
  } else if (Date.parse(time) > Date.now()) problems.push(because(`${column}_future`))
  return time ?? null
}

/** Returns 2024-05-31 for 31.5.2024 and the like, and other text unchanged. */
function readLocalDay(text: string, order: DateOrder): string {
  const [, first, separator, second, year] = LOCAL_DAY.exec(text) ?? []
  if (first === undefined || second === undefined) return text
  const isMonthFirst = order === 'month_first' && separator !== '.'
  const [day, month] = isMonthFirst ? [second, first] : [first, second]
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
}
