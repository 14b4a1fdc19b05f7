import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { summarize } from '../../core/throttle.ts'
import { ApiError } from '../shared/errors.ts'
import type { Metrics } from '../shared/metrics.ts'
import { newRequestId } from '../shared/request-id.ts'
import { API_PREFIX, API_VERSION } from './frame.ts'

/** Overload means thousands of rejections per second, and a line for each would be a load of its own. */
const LOG_INTERVAL_MS = 1000

const overloaded = new ApiError('overloaded', { isLogged: true })
const HEADERS = {
  'api-version': API_VERSION,
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
  'content-type': 'application/json; charset=utf-8',
  ...overloaded.headers,
}

export interface Admission {
  /** Counts the calls of this API, and rejects those that came past the guard. */
  count(app: FastifyInstance): void
  /** Rejects calls while the limit is reached, and leaves everything else to `handle`. */
  guard(handle: RequestListener): RequestListener
}

interface AdmissionOptions {
  callsMax: number
  log: Logger
  metrics: Pick<Metrics, 'requestDurations'>
}

/**
 * Rejects calls while `callsMax` others are being answered. A longer queue would not answer more calls, only later
 * ones, until clients give up and their calls were answered in vain. Rejecting has to be far cheaper than answering,
 * or rejections take the time of the calls they protect. So this runs before the framework sees the request.
 */
export function createAdmission({ callsMax, log, metrics }: AdmissionOptions): Admission {
  let inFlight = 0
  const logRejection = summarize(LOG_INTERVAL_MS, (reqId: string, rejected) =>
    log.warn({ reqId, code: overloaded.code, rejected, callsMax }, 'requests rejected'),
  )

  function leave(): void {
    inFlight -= 1
  }

  function reject({ method }: IncomingMessage, response: ServerResponse): void {
    const requestId = newRequestId()
    logRejection(requestId)
    metrics.requestDurations.observe({ method: method!, route: 'none', status: overloaded.status }, 0)
    const body = JSON.stringify(overloaded.body(requestId))
    response
      .writeHead(overloaded.status, {
        'request-id': requestId,
        'content-length': Buffer.byteLength(body),
        ...HEADERS,
      })
      .end(body)
  }

  return {
    count(app) {
      // A call counts from when its body is there, or a few slow clients could occupy all places.
      app.addHook('preValidation', ({ id }, { open }, done) => {
        // Bodies of many may arrive at once, and a path may be written so that the guard does not know it.
        if (inFlight >= callsMax) {
          logRejection(id)
          throw overloaded
        }
        // A client may have disconnected meanwhile. Nobody would take such a call off the count.
        if (open && !open.isOver) {
          inFlight += 1
          open.whenOver = leave
        }
        done()
      })
    },
    guard: (handle) => (request, response) => {
      if (inFlight >= callsMax && request.url!.startsWith(API_PREFIX)) reject(request, response)
      else handle(request, response)
    },
  }
}
