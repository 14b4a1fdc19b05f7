import type { Export } from '../../csv/export-rows.ts'
import { countCalls, selectCalls, type CallDetailRow, type CallFilter } from './queries.ts'

const COLUMNS = [
  'at',
  'request_id',
  'partner_id',
  'partner_name',
  'client_id',
  'method',
  'path',
  'status',
  'error',
  'error_description',
  'duration_ms',
  'address',
  'user_agent',
]

/** Exports the newest first, like the console. */
export function callsExport(communityId: number, filter: CallFilter): Export<CallDetailRow> {
  return {
    columns: COLUMNS,
    select: (tx) => selectCalls(tx, communityId, filter),
    fields: (call) => ({ ...call }),
    count: (tx) => countCalls(tx, communityId, filter),
  }
}
