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

/** What the address of the page carries. */
export interface CallFilters {
  view?: string
  partner?: string
  status?: string
  method?: string
  path?: string
  error?: string
  request?: string
  period?: string
  /** Days of the community's calendar. */
  since?: string
  until?: string
  call?: string
}
