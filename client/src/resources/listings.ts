import { collectChanges, listAt, type Changes } from '../paging.ts'
import { idText, sendForData, type CallOptions, type Send } from '../transport.ts'
import type { Listing, ListingsQuery } from '../types.ts'

/** Services and requests. Scope `listings.read`. */
export function listingsResource(send: Send) {
  const { list, pages, iterate } = listAt<Listing, ListingsQuery>(send, '/listings')

  return {
    /** Reads one page of active listings. */
    list,
    /** Reads all pages. */
    pages,
    /** Reads all listings. */
    iterate,
    /** All listings that changed since a time, and the start of the next round. For very many, use `pages`. */
    changes: (since?: string, options?: CallOptions): Promise<Changes<Listing>> =>
      collectChanges((updated_since) => pages({ updated_since }, options), since),
    /** Fetches one listing. */
    get: async (id: number, options?: CallOptions): Promise<Listing> =>
      sendForData(send, { method: 'GET', path: `/listings/${idText(id)}`, repeatable: true }, options),
  }
}
