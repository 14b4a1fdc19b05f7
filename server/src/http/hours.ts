/** Hours are whole hundredths inside, decimals on the wire. Dividing an integer by 100 gives the nearest double: 1.15 is 1.15. */
export function toHours(centihours: number): number {
  return centihours / 100
}

/** Undefined when there are more than two decimals. */
export function toCentihours(hours: number): number | undefined {
  const centihours = Math.round(hours * 100)
  return centihours / 100 === hours && Number.isSafeInteger(centihours) ? centihours : undefined
}
