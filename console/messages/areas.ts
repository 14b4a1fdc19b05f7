import { sep } from 'node:path'

/** The messages that every page needs: those of all files outside `src/pages`. */
export const SHARED_AREA = 'shared'

/** Each folder of `src/pages` is an area of its own: its messages are loaded together, when a file of it is. */
export function areaOf(file: string): string {
  const [, page] = file.split(sep).join('/').split('/src/pages/')
  return page?.split('/')[0] ?? SHARED_AREA
}
