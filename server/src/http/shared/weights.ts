/** A browser names about eight; a header of 16 kB could hold thousands. */
const VALUES_MAX = 100
/** May contain commas and semicolons. Matches without its closing quote too, so the time is linear in the length. */
const QUOTED = /"(?:\\.|[^"\\])*"?/g

/**
 * Reads a header such as Accept: its values in lower case and without their other parameters, with their weights
 * (RFC 9110 section 12.4.2). A value that occurs twice, with different parameters, has the higher weight.
 */
export function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const alternative of header.toLowerCase().replaceAll(QUOTED, '').split(',', VALUES_MAX)) {
    const [value = '', ...parameters] = alternative.split(';').map((part) => part.trim())
    const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? 1)
    weights.set(value, Math.max(weight || 0, weights.get(value) ?? 0))
  }
  return weights
}

/** Returns the weight of the first of these ranges that the header names, so name the most specific one first. */
export function weightOf(weights: Map<string, number>, ...ranges: string[]): number {
  const named = ranges.find((range) => weights.has(range))
  return named === undefined ? 0 : weights.get(named)!
}
