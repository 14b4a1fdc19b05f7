/** A published figure is always a range, never an exact number. */
export type Figure = Bucket | Suppressed

export interface Bucket {
  min: number
  max: number
}

export interface Suppressed {
  suppressed: true
}

export const SUPPRESSED: Suppressed = { suppressed: true }

/** Smaller values are suppressed, including 0. */
const PUBLISHED_MIN = 10
const WIDTH_MIN = 10
const SIGNIFICANT_DIGITS = 2

/** Buckets are 10 wide below 1,000 and have two significant digits above. */
export function toFigure(value: number): Figure {
  if (value < PUBLISHED_MIN) return SUPPRESSED
  const width = Math.max(WIDTH_MIN, 10 ** (`${value}`.length - SIGNIFICANT_DIGITS))
  const min = Math.floor(value / width) * width
  return { min, max: min + width - 1 }
}

export function isBucket(figure: Figure): figure is Bucket {
  return !('suppressed' in figure)
}

/** Sums published buckets only, so the total reveals nothing beyond its parts. */
export function sumOf(buckets: Bucket[]): Figure {
  if (buckets.length === 0) return SUPPRESSED
  return {
    min: buckets.reduce((sum, { min }) => sum + min, 0),
    max: buckets.reduce((sum, { max }) => sum + max, 0),
  }
}
