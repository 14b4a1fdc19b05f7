import { texts } from '../../search-params.ts'

export const exchangesSearch = texts('member', 'kind', 'status', 'from', 'until', 'transfer')
