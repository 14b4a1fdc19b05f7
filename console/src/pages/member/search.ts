import { texts } from '../../search-params.ts'

/** Of the statement, and the record that is open beside it. */
export const memberSearch = texts('from', 'until', 'transfer')
