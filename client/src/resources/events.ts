import { listAt } from '../paging.ts'
import type { Send } from '../transport.ts'
import type { HourbankEvent } from '../types.ts'

/** The events of the last 30 days as a feed, for clients that prefer to poll. Scope `webhooks.manage`. */
export function eventsResource(send: Send) {
  const { list, pages, iterate } = listAt<HourbankEvent>(send, '/events')

  return {
    /** Reads one page of events, the oldest first. */
    list,
    /** Reads page after page, up to now. Keep `meta.next_cursor` of each page you are done with: go on from there. */
    pages,
    /** Reads event after event, up to now. */
    iterate,
  }
}
