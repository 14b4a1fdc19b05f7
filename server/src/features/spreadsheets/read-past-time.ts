import { isDay, toUtc } from '../../core/times.ts'

/**
 * Adds to `problems` if the text is not a time in the past. A date without a time means noon UTC, which falls on that
 * date in nearly every time zone.
 */
export function readPastTime(text: string, what: string, problems: string[]): string | null {
  const time = isDay(text) ? `${text}T12:00:00Z` : toUtc(text)
  if (time === undefined) problems.push(`The time of ${what} must be like 2024-05-31 or 2024-05-31T12:00:00Z.`)
  else if (Date.parse(time) > Date.now()) problems.push(`The time of ${what} lies in the future.`)
  return time ?? null
}
