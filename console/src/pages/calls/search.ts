import { texts } from '../../search-params.ts'

export const callsSearch = texts(
  'view',
  'partner',
  'status',
  'method',
  'path',
  'error',
  'request',
  'period',
  'since',
  'until',
  'call',
)
