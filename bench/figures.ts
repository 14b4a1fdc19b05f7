/** The middle one; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** How far the values lie apart, as a share of the middle one. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values)
}

/** `share` from 0 to 1; of values in ascending order. */
export function percentile(ascending: ArrayLike<number>, share: number): number {
  const at = Math.min(ascending.length - 1, Math.max(0, Math.ceil(share * ascending.length) - 1))
  return ascending[at] ?? Number.NaN
}

/** Three digits are what such a measurement has. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)))
  return value.toLocaleString('en-US', { maximumFractionDigits: digits })
}
