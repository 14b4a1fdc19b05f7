import { texts } from '../../search-params.ts'

/** Ids with commas between them, and the days. */
export const printSearch = texts('ids', 'from', 'until')
