import { texts } from '../../search-params.ts'

export const exchangesSearch = texts(
  'member',
  'kind',
  'status',
  'category',
  'from',
  'until',
  'sort',
  'rows',
  'transfer',
)

/** Whose slip it is, or which exchange is corrected. */
export const recordSearch = texts('member', 'correct')
