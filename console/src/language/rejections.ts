import { i18n } from '@lingui/core'
import { t } from '@lingui/core/macro'
import { formatDay } from '../parts/day.ts'
import { formatNumber } from './formats.ts'
import { isolate } from './isolate.ts'
import { REJECTIONS_AREA } from './language.ts'

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Not of a day that does not exist, such as 2023-02-29: it would be shown as another one. */
const isDay = (text: string) => DAY.test(text) && new Date(`${text}T00:00Z`).toJSON()?.startsWith(text) === true

type Values = Record<string, string | number>

/** As the service rejects a request, a field or a row of a file. */
export interface Rejected {
  /** Its own words, in English. */
  message: string
  reason?: string | undefined
  values?: Values | undefined
  /** Several reasons, each with its own sentence. */
  parts?: readonly Rejected[]
}

/** Why the service rejected something, in the language on the screen. */
export function rejectionText({ message, reason, values = {}, parts }: Rejected): string {
  if (i18n.locale === 'en' || !(parts ?? [{ reason }]).every(isKnown)) return message
  if (parts) return parts.map(rejectionText).join(' ')
  const sentence = i18n._(idOf(reason), Object.fromEntries(Object.entries(values).map(toShown)))
  if (values.at_line === undefined) return sentence
  const line = formatNumber(Number(values.at_line))
  return t`Line ${line}: ${sentence}`
}

function idOf(reason: string | undefined): string {
  return `${REJECTIONS_AREA}.${reason}`
}

function isKnown({ reason }: Pick<Rejected, 'reason'>): boolean {
  return idOf(reason) in i18n.messages
}

/** Days as the language writes them, and texts so that their own direction does not disturb the sentence. */
function toShown([name, value]: [string, string | number]): [string, string | number] {
  if (typeof value === 'number') return [name, value]
  return [name, isolate(isDay(value) ? formatDay(value) : value)]
}
