/** Returns the median; for an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Returns the range of the values relative to their median. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values)
}

/** `share` is from 0 to 1; the values are in ascending order. */
export function percentile(ascending: ArrayLike<number>, share: number): number {
  const at = Math.min(ascending.length - 1, Math.max(0, Math.ceil(share * ascending.length) - 1))
  return ascending[at] ?? Number.NaN
}

/** Rounds to three significant digits, the precision of these measurements. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)))
  return value.toLocaleString('en-US', { maximumFractionDigits: digits })
}
