import { texts } from '../../search-params.ts'

export const webhooksSearch = texts('status', 'partner')
