import type { CallOptions, Send } from './transport.ts'
import { HourbankError } from './errors.ts'
import { isObject } from './fetch-json.ts'
import type { Page, PageMeta, PageQuery } from './types.ts'

/** The largest page allowed, so that reading everything takes the fewest calls. */
const LIMIT_MAX = 100
const EVER = '1970-01-01T00:00:00Z'

/** Everything that changed since a time. */
export interface Changes<Item> {
  items: Item[]
  /** Store it: the `since` of the next round. */
  syncedUntil: string
}

/** The three ways to read a list. */
export function listAt<Item, Query extends PageQuery = PageQuery, Meta extends PageMeta = PageMeta>(
  send: Send,
  path: string,
) {
  /** Reads one page. */
  async function list(query?: Query, options?: CallOptions): Promise<Page<Item, Meta>> {
    const page = await send({ method: 'GET', path, query: { ...query }, repeatable: true }, options)
    if (!isPage(page)) throw new HourbankError('invalid_response', `GET ${path}: the response is not a page`)
    return page as unknown as Page<Item, Meta>
  }

  /** Reads all pages, starting at `query.cursor`. */
  async function* pages(query?: Query, options?: CallOptions): AsyncGenerator<Page<Item, Meta>, void, undefined> {
    let next = { limit: LIMIT_MAX, ...query } as Query
    for (;;) {
      const page = await list(next, options)
      yield page
      if (!page.meta.has_more) return
      const cursor = page.meta.next_cursor
      // Otherwise the same page would be read forever.
      if (cursor === null || cursor === next.cursor) {
        throw new HourbankError('invalid_response', `GET ${path}: there is more, but the response does not say where`)
      }
      next = { ...next, cursor }
    }
  }

  /** Reads all items, and requests the next page when it is needed. */
  async function* iterate(query?: Query, options?: CallOptions): AsyncGenerator<Item, void, undefined> {
    for await (const page of pages(query, options)) yield* page.data
  }

  return { list, pages, iterate }
}

/** Collects all pages of a list of changes, and where the next round begins. */
export async function collectChanges<Item>(
  pagesSince: (since: string) => AsyncIterable<Page<Item>>,
  since = EVER,
): Promise<Changes<Item>> {
  const items: Item[] = []
  let syncedUntil: string | undefined
  for await (const page of pagesSince(since)) {
    for (const item of page.data) items.push(item)
    syncedUntil = page.meta.synced_until
  }
  if (syncedUntil === undefined) {
    throw new HourbankError('invalid_response', 'The response does not say where the next round begins')
  }
  return { items, syncedUntil }
}

function isPage({ data, meta }: Record<string, unknown>): boolean {
  if (!Array.isArray(data) || !isObject(meta)) return false
  return typeof meta.has_more === 'boolean' && (meta.next_cursor === null || typeof meta.next_cursor === 'string')
}
