import { texts } from '../../search-params.ts'

export const auditSearch = texts('actor', 'action', 'from', 'until', 'batch', 'view')
