import { texts } from '../../search-params.ts'

/** Of the statement. */
export const memberSearch = texts('from', 'until')
