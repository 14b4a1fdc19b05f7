import { texts } from '../../search-params.ts'

export const membersSearch = texts('q', 'status', 'hidden', 'balance', 'inactive', 'tag', 'sort', 'rows', 'add')
