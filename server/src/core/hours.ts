import { Refusal } from './refusal.ts'

/** Hours are integer hundredths internally and decimals on the wire. Division gives the nearest double: 115 → 1.15. */
export function toHours(centihours: number): number {
  return centihours / 100
}

/** Returns undefined for more than two decimals. */
export function toCentihours(hours: number): number | undefined {
  const centihours = Math.round(hours * 100)
  return centihours / 100 === hours && Number.isSafeInteger(centihours) ? centihours : undefined
}

/** Rejects more than two decimals: a form value is never rounded before it is posted. */
export function requireCentihours(hours: number, field = 'hours'): number {
  const centihours = toCentihours(hours)
  if (centihours === undefined) throw new Refusal('Hours have at most two decimals.', { field })
  return centihours
}
