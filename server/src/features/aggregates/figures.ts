/** Every figure that leaves the service: never a number, always a range of them. */
export type Figure = Bucket | Suppressed

export interface Bucket {
  min: number
  max: number
}

export interface Suppressed {
  suppressed: true
}

export const SUPPRESSED: Suppressed = { suppressed: true }

/** Nothing below is told, not even that it is nothing. */
const TOLD_MIN = 10
const WIDTH_MIN = 10
const SIGNIFICANT_DIGITS = 2

/** Ten wide below 1,000; two significant digits above. */
export function toFigure(value: number): Figure {
  if (value < TOLD_MIN) return SUPPRESSED
  const width = Math.max(WIDTH_MIN, 10 ** (`${value}`.length - SIGNIFICANT_DIGITS))
  const min = Math.floor(value / width) * width
  return { min, max: min + width - 1 }
}

export function isBucket(figure: Figure): figure is Bucket {
  return !('suppressed' in figure)
}

/** Of what was published, and of nothing else: whoever has the parts learns nothing from the sum. */
export function sumOf(buckets: Bucket[]): Figure {
  if (buckets.length === 0) return SUPPRESSED
  return {
    min: buckets.reduce((sum, { min }) => sum + min, 0),
    max: buckets.reduce((sum, { max }) => sum + max, 0),
  }
}
