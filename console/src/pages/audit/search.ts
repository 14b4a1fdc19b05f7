import { texts } from '../../search-params.ts'

export const auditSearch = texts('actor', 'action', 'subject_kind', 'subject_id', 'from', 'until', 'batch', 'view')
