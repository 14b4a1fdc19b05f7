import { texts } from '../../search-params.ts'

export const partnerSearch = texts('suspend')
