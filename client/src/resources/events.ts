import { listAt } from '../paging.ts'
import type { Send } from '../transport.ts'
import type { HourbankEvent } from '../types.ts'

/** The events of the last 30 days as a feed, for clients that prefer to poll. Scope `webhooks.manage`. */
export function eventsResource(send: Send) {
  const { list, pages, iterate } = listAt<HourbankEvent>(send, '/events')

  return {
    /** Reads one page of events, the oldest first. */
    list,
    /** Reads all pages, up to now. Store `meta.next_cursor` of each processed page, and continue from there. */
    pages,
    /** Reads all events, up to now. */
    iterate,
  }
}
