import { sendForData, type CallOptions, type Send } from '../transport.ts'
import type { CommunityAggregates } from '../types.ts'

/** Community totals without personal data. Scope `aggregates.read`. */
export function aggregatesResource(send: Send) {
  return {
    /** Reads the figures of closed months; they change only when a month is closed. */
    community: (options?: CallOptions): Promise<CommunityAggregates> =>
      sendForData(send, { method: 'GET', path: '/aggregates/community', repeatable: true }, options),
  }
}
