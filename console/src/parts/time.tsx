import { useParams } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { formatDate, formatLocale } from '../language/formats.ts'
import { sessionQuery } from '../session.ts'
import classes from './time.module.css'

const STEPS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const
const RELATIVE_DAYS_MAX = 30

type TimeStyle = 'moment' | 'second' | 'date' | 'relative'

interface Props {
  /** RFC 3339, as the service sends it. */
  value: string
  /** `moment`: date and minute; `second`: to the second; `date`: the day alone; `relative`: '3 minutes ago'. */
  as?: TimeStyle
  /** Reachable by keyboard, which then shows the exact time. Off in tables: a stop per row would be a burden. */
  focusable?: boolean
}

/** A time in the community's zone. Hovering shows it to the second, with the zone. */
export function Time({ value, as = 'moment', focusable = false }: Props) {
  const zone = useTimeZone()
  const exact = formatExact(value, zone)
  return (
    <time dateTime={value} title={exact} className={classes.time} {...(focusable ? { tabIndex: 0 } : {})}>
      {formatTime(value, zone, as)}
    </time>
  )
}

/** The zone of the community in the address; elsewhere that of the browser. */
export function useTimeZone(): string {
  const { slug } = useParams({ strict: false })
  const session = useQuery(sessionQuery).data
  const community = session?.communities.find((one) => one.slug === slug)
  return community?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
}

export function formatTime(value: string, timeZone: string, as: TimeStyle = 'moment'): string {
  const date = new Date(value)
  if (as === 'relative') return formatRelative(date) ?? formatTime(value, timeZone)
  const seconds = as === 'second' ? ({ second: '2-digit' } as const) : {}
  const time = as === 'date' ? {} : ({ hour: '2-digit', minute: '2-digit', ...seconds } as const)
  return formatDate(date, { day: 'numeric', month: 'short', year: 'numeric', ...time, timeZone })
}

function formatExact(value: string, timeZone: string): string {
  return `${formatDate(new Date(value), { dateStyle: 'full', timeStyle: 'long', timeZone })} (${timeZone})`
}

function formatRelative(date: Date): string | undefined {
  const seconds = Math.round((date.getTime() - Date.now()) / 1_000)
  if (Math.abs(seconds) > RELATIVE_DAYS_MAX * 86_400) return undefined
  const [unit, size] = STEPS.find(([, length]) => Math.abs(seconds) >= length) ?? STEPS[3]
  // 'Yesterday' would be wrong: what was a day and a half ago may have been the day before.
  const numeric = unit === 'day' ? 'always' : 'auto'
  return new Intl.RelativeTimeFormat(formatLocale(), { numeric }).format(Math.trunc(seconds / size), unit)
}
