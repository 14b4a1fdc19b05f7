import { texts } from '../../search-params.ts'

export const listingsSearch = texts('q', 'type', 'category', 'status', 'member', 'sort', 'rows')
