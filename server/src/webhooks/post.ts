import type { Dispatcher } from 'undici'

export interface Answer {
  status: number
  retryAfter: string | undefined
  /** As much of the body as was asked for, and came in time. */
  beginning: Buffer
}

export interface Target {
  origin: string
  path: string
}

export interface PostLimits {
  /** From the first look-up to the last byte that is read. */
  timeoutMs: number
  /** Whoever sends more is cut off. */
  bytesMax: number
}

/**
 * One POST, by the dispatcher's own callbacks: a stream, its iterator and an abort signal for each took longer than the
 * request. The status is the answer: a body that then stalls or breaks off is kept as far as it came.
 */
export function post(
  dispatcher: Dispatcher,
  { origin, path }: Target,
  { headers, body }: { headers: Record<string, string>; body: string },
  { timeoutMs, bytesMax }: PostLimits,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let answer: Omit<Answer, 'beginning'> | undefined
    let request: Dispatcher.DispatchController | undefined
    let isOver = false

    function settle(error?: Error): void {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      if (!answer) return reject(error!)
      const read = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      resolve({ ...answer, beginning: read.subarray(0, bytesMax) })
    }
    function breakOff(error: Error): void {
      settle(error)
      request?.abort(error)
    }
    const timer = setTimeout(() => breakOff(new TimedOut(timeoutMs)), timeoutMs)

    dispatcher.dispatch(
      {
        origin,
        path,
        method: 'POST',
        headers,
        body,
        // The one above is for the whole.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart(started) {
          request = started
          if (isOver) started.abort(new TimedOut(timeoutMs))
        },
        onResponseStart(_request, status, answered) {
          // 1xx: the answer is still to come.
          if (status < 200) return
          const retryAfter = answered['retry-after']
          answer = { status, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter }
        },
        onResponseData(_request, chunk) {
          chunks.push(chunk)
          bytes += chunk.length
          if (bytes >= bytesMax) breakOff(new Error('enough was read'))
        },
        onResponseEnd: () => settle(),
        onResponseError: (_request, error) => settle(error),
      },
    )
  })
}

class TimedOut extends Error {
  override name = 'TimeoutError'
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
  }
}
