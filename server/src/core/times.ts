const DAY = /^(?!0000)\d{4}-\d\d-\d\d$/
const TIME =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d(?:\.\d{1,9})?)(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i
const MINUTE_MS = 60_000
const DAY_LENGTH = '2026-01-31'.length
/** The length of the part before the seconds: `2026-01-31T12:00`. */
const TO_MINUTES_LENGTH = 16

/**
 * Converts an RFC 3339 time to UTC and keeps its fractional seconds unchanged; returns undefined for anything else.
 * PostgreSQL rejects offsets beyond ±15:59, which RFC 3339 allows, and formats years outside 0001 to 9999 differently.
 */
export function toUtc(text: string): string | undefined {
  const [, day, hour, minute, seconds, sign, offsetHours, offsetMinutes] = TIME.exec(text) ?? []
  if (day === undefined || !isDay(day)) return undefined
  const local = `${day}T${hour}:${minute}`
  const offset = sign === undefined ? 0 : Number(`${sign}1`) * (Number(offsetHours) * 60 + Number(offsetMinutes))
  const utc = offset === 0 ? local : shift(local, -offset)
  return isDay(utc.slice(0, day.length)) ? `${utc}:${seconds}Z` : undefined
}

function shift(time: string, minutes: number): string {
  return new Date(Date.parse(`${time}Z`) + minutes * MINUTE_MS).toISOString().slice(0, TO_MINUTES_LENGTH)
}

const WHOLE_SECONDS_LENGTH = '2026-01-31T09:00:00'.length
const MICROSECONDS_LENGTH = '2026-01-31T09:00:00.000000'.length

/**
 * The form of every time in responses: UTC with microseconds, so that texts sort as the times do. Takes a time without
 * its zone. PostgreSQL leaves out zeros at the end of the fraction.
 */
export function toResponseTime(utc: string): string {
  if (utc.length === MICROSECONDS_LENGTH) return `${utc}Z`
  return `${utc}${utc.length === WHOLE_SECONDS_LENGTH ? '.' : ''}`.padEnd(MICROSECONDS_LENGTH, '0') + 'Z'
}

/** The same for a time that PostgreSQL has put into JSON, where it writes the zone as +00:00. */
export function fromJsonTime(time: string): string {
  return toResponseTime(time.replace('+00:00', ''))
}

export function isTime(text: string): boolean {
  return toUtc(text) !== undefined
}

export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`)
  return DAY.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

export interface Calendar {
  /** The present day, like 2026-01-31. */
  today(): string
  /** The milliseconds at which it is noon on a day. */
  noonMs(day: string): number
}

/** As `longOffset` writes it. Offsets had seconds before there were time zones. */
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/

/** The days of a place. Keep it for many days: creating a formatter takes far longer than using it. */
export function createCalendar(timeZone: string): Calendar {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const offsetMs = (timeMs: number) => {
    const [, sign = '+', hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(format.format(timeMs)) ?? []
    return Number(`${sign}1`) * ((Number(hours) * 60 + Number(minutes)) * MINUTE_MS + Number(seconds) * 1_000)
  }
  return {
    today() {
      const nowMs = Date.now()
      return new Date(nowMs + offsetMs(nowMs)).toISOString().slice(0, DAY_LENGTH)
    },
    noonMs(day) {
      const utcNoonMs = Date.parse(`${day}T12:00:00Z`)
      // If the clocks change in between, it is an hour from noon, but on that day.
      return utcNoonMs - offsetMs(utcNoonMs)
    },
  }
}
