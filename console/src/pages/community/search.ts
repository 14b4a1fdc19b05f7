import { texts } from '../../search-params.ts'

export const communitySearch = texts('part')
