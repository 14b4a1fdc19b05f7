import { because } from './reasons.ts'
import { Refusal } from './refusal.ts'

/** Hours are integer hundredths internally and decimals on the wire. Division gives the nearest double: 115 → 1.15. */
export function toHours(centihours: number): number {
  return centihours / 100
}

/** The most that `readCentihours` reads: whatever is stored can be exported and imported again. */
export const READ_HOURS_MAX = 999_999_999.99

/** Returns undefined for more than two decimals. */
export function toCentihours(hours: number): number | undefined {
  const centihours = Math.round(hours * 100)
  return centihours / 100 === hours && Number.isSafeInteger(centihours) ? centihours : undefined
}

const GROUPED: Record<'point' | 'comma', RegExp> = {
  point: /^([-+]?)(\d{1,9}|[1-9]\d{0,2}(?:[,' ]\d{3}){1,2})(?:\.(\d{1,2}))?$/,
  comma: /^([-+]?)(\d{1,9}|[1-9]\d{0,2}(?:[.' ]\d{3}){1,2})(?:,(\d{1,2}))?$/,
}

/**
 * Reads hours as spreadsheets write them, like 1.234,50, digit by digit and never rounded. The decimal sign must be
 * known: 1.234 is a thousand hours and more with a decimal comma, and too precise with a decimal point.
 */
export function readCentihours(text: string, decimal: 'point' | 'comma'): number | undefined {
  const plain = text
    .trim()
    .replace('\u2212', '-')
    .replaceAll(/[\u00A0\u202F]/g, ' ')
    .replaceAll('\u2019', "'")
  const [, sign, whole, fraction = ''] = GROUPED[decimal].exec(plain) ?? []
  if (whole === undefined) return undefined
  const centihours = Number(whole.replaceAll(/\D/g, '') + fraction.padEnd(2, '0'))
  return sign === '-' && centihours !== 0 ? -centihours : centihours
}

/** Rejects more than two decimals: a form value is never rounded before it is posted. */
export function requireCentihours(hours: number, field = 'hours'): number {
  const centihours = toCentihours(hours)
  if (centihours === undefined) throw new Refusal(because('hours_decimals'), { field })
  return centihours
}
