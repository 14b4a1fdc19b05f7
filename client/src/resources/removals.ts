import { collectChanges, listAt, type Changes } from '../paging.ts'
import type { CallOptions, Send } from '../transport.ts'
import type { Removal, RemovalsQuery } from '../types.ts'

/** Members and listings that can no longer be seen. Scope `users.read` or `listings.read`, by type. */
export function removalsResource(send: Send) {
  const { list, pages, iterate } = listAt<Removal, RemovalsQuery>(send, '/removals')

  return {
    /** Reads one page of removals. */
    list,
    /** Reads all pages. */
    pages,
    /** Reads all removals. */
    iterate,
    /** All removals since a time, and the start of the next round. */
    changes: (since?: string, options?: CallOptions): Promise<Changes<Removal>> =>
      collectChanges((from) => pages({ since: from }, options), since),
  }
}
