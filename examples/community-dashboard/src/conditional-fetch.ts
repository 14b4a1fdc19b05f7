import type { Fetch } from '@hourbank/client'

/** The dashboard requests one URL; more than this are not cached. */
const REMEMBERED_MAX = 10

interface Remembered {
  etag: string
  body: string
}

/**
 * Returns a `fetch` for the SDK that makes conditional requests. The totals change once a month; all other responses
 * are a 304 without a body, and the cached body is returned instead.
 */
export function conditionalFetch(onAnswer: (path: string, status: number) => void): Fetch {
  const remembered = new Map<string, Remembered>()

  return async (url, init) => {
    const known = init.method === 'GET' ? remembered.get(url) : undefined
    const headers = { ...init.headers, ...(known && { 'if-none-match': known.etag }) }
    const response = await fetch(url, { ...init, headers })
    onAnswer(new URL(url).pathname, response.status)
    if (known && response.status === 304) return new Response(known.body, { status: 200, headers: response.headers })
    const etag = response.headers.get('etag')
    if (init.method !== 'GET' || response.status !== 200 || !etag) return response
    const body = await response.text()
    if (remembered.size < REMEMBERED_MAX || remembered.has(url)) remembered.set(url, { etag, body })
    return new Response(body, { status: 200, headers: response.headers })
  }
}
