/** `npm run test:full` sets TEST_VOLUME=full; `npm test` checks the same promises on a tenth. */
export const isFullVolume = process.env.TEST_VOLUME === 'full'

/** How much of a large quantity this run uses. */
export function volume(full: number): number {
  return isFullVolume ? full : full / 10
}

/** A prime, so that the cases of every parameter and every value among them get their turn. */
const SAMPLE_EVERY = 11

/** All of many similar cases, or in `npm test` every eleventh. */
export function* sample<T>(cases: Iterable<T>): Generator<T> {
  let n = 0
  for (const one of cases) if (isFullVolume || n++ % SAMPLE_EVERY === 0) yield one
}
