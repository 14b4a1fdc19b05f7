import { texts } from '../../search-params.ts'

export const partnersSearch = texts('q', 'status')
