/** `npm run test:full` sets TEST_VOLUME=full; `npm test` checks the same promises on a tenth. */
export const isFullVolume = process.env.TEST_VOLUME === 'full'

/** How much of a large quantity this run uses. */
export function volume(full: number): number {
  return isFullVolume ? full : full / 10
}
