import { Refusal } from './refusal.ts'

/** Hours are whole hundredths inside, decimals on the wire. Dividing an integer by 100 gives the nearest double: 1.15 is 1.15. */
export function toHours(centihours: number): number {
  return centihours / 100
}

/** Undefined when there are more than two decimals. */
export function toCentihours(hours: number): number | undefined {
  const centihours = Math.round(hours * 100)
  return centihours / 100 === hours && Number.isSafeInteger(centihours) ? centihours : undefined
}

/** A number from a form is never rounded on its way into the books. */
export function requireCentihours(hours: number, field = 'hours'): number {
  const centihours = toCentihours(hours)
  if (centihours === undefined) throw new Refusal('Hours have at most two decimals.', { field })
  return centihours
}
