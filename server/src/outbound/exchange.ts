import type { Dispatcher } from 'undici'
import { createSlots } from '../core/slots.ts'

/** How often the time limit is checked until it has passed. */
const CHECKS_PER_LIMIT = 50
/** The dispatcher has none of its own: ours is for the whole. */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 }

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

export interface ExchangeLimits {
  /** From the first look-up to the last byte that is read. */
  timeoutMs: number
  /** A longer response is cut off. */
  bytesMax: number
}

/** Called once, with an answer or the reason why there is none. */
export type Answered = (answer: Answer | undefined, error: Error | undefined) => void

export interface Exchanger {
  get(target: Target, headers: Record<string, string>, answered: Answered): void
  post(target: Target, headers: Record<string, string>, body: string, answered: Answered): void
  /** Breaks off what is under way. */
  close(): Promise<void>
}

/** One timer looks at all that is under way, instead of a timer for each. */
export function createExchanger(dispatcher: Dispatcher, { timeoutMs, bytesMax }: ExchangeLimits): Exchanger {
  const underWay = createSlots<Exchange>()
  const timer = setInterval(
    () => {
      const nowMs = performance.now()
      underWay.forEach((exchange) => exchange.endIfLate(nowMs))
    },
    Math.ceil(timeoutMs / CHECKS_PER_LIMIT),
  ).unref()

  function start(request: Dispatcher.DispatchOptions, answered: Answered): void {
    const exchange: Exchange = new Exchange({ timeoutMs, bytesMax }, (answer, error) => {
      underWay.remove(slot, exchange)
      answered(answer, error)
    })
    const slot = underWay.add(exchange)
    dispatcher.dispatch(request, exchange)
  }

  return {
    get({ origin, path }, headers, answered) {
      start({ origin, path, method: 'GET', headers, ...NO_TIMEOUTS }, answered)
    },
    post({ origin, path }, headers, body, answered) {
      start({ origin, path, method: 'POST', headers, body, ...NO_TIMEOUTS }, answered)
    },
    async close() {
      await dispatcher.destroy()
      clearInterval(timer)
    },
  }
}

/**
 * One request, by the dispatcher's own callbacks: a stream, its iterator and an abort signal for each took longer than the
 * request. The status is the answer: a body that then stalls or breaks off is kept as far as it came.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #limits: ExchangeLimits
  readonly #answered: Answered
  readonly #lateMs: number
  #request: Dispatcher.DispatchController | undefined
  #status: number | undefined
  #retryAfter: string | undefined
  #chunks: Buffer[] | undefined
  #bytes = 0
  #isOver = false

  constructor(limits: ExchangeLimits, answered: Answered) {
    this.#limits = limits
    this.#answered = answered
    this.#lateMs = performance.now() + limits.timeoutMs
  }

  endIfLate(nowMs: number): void {
    if (nowMs >= this.#lateMs) this.#breakOff(new TimedOut(this.#limits.timeoutMs))
  }

  onRequestStart(request: Dispatcher.DispatchController): void {
    this.#request = request
    if (this.#isOver) request.abort(new TimedOut(this.#limits.timeoutMs))
  }

  onResponseStart(
    _request: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx: the answer is still to come.
    if (status < 200) return
    const retryAfter = headers['retry-after']
    this.#status = status
    this.#retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter
  }

  onResponseData(_request: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks ??= []
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes >= this.#limits.bytesMax) this.#breakOff(new Error('enough was read'))
  }

  onResponseEnd(): void {
    this.#end(undefined)
  }

  onResponseError(_request: Dispatcher.DispatchController, error: Error): void {
    this.#end(error)
  }

  #breakOff(error: Error): void {
    this.#end(error)
    this.#request?.abort(error)
  }

  #end(error: Error | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#status === undefined) return this.#answered(undefined, error)
    const beginning = this.#chunks ? Buffer.concat(this.#chunks).subarray(0, this.#limits.bytesMax) : NOTHING
    this.#answered({ status: this.#status, retryAfter: this.#retryAfter, beginning }, undefined)
  }
}

const NOTHING = Buffer.alloc(0)

class TimedOut extends Error {
  override name = 'TimeoutError'
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
  }
}
