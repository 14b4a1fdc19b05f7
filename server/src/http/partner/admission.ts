import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../shared/errors.ts'
import { API_VERSION } from './frame.ts'

/** Overload means thousands of rejections per second, and a line for each would be a load of its own. */
const LOG_INTERVAL_MS = 1000

const overloaded = new ApiError('overloaded')

/**
 * Rejects calls while `callsMax` others are being answered. A longer queue would not answer more calls, only later
 * ones, until clients give up and their calls were answered in vain. Rejecting has to be far cheaper than answering,
 * or rejections take the time of the calls they protect. So this runs first, and writes the response itself.
 *
 * A call counts from when its body is there, or a few slow clients could occupy all places.
 */
export function limitCallsInFlight(app: FastifyInstance, callsMax: number): void {
  let inFlight = 0
  let [rejected, loggedAtMs] = [0, -Infinity]

  function leave(): void {
    inFlight -= 1
  }

  function logRejections(request: FastifyRequest): void {
    rejected += 1
    const nowMs = performance.now()
    if (nowMs - loggedAtMs < LOG_INTERVAL_MS) return
    request.log.warn({ reqId: request.id, code: overloaded.code, rejected, callsMax }, 'requests rejected')
    loggedAtMs = nowMs
    rejected = 0
  }

  app.addHook('onRequest', (request, reply, done) => {
    if (inFlight < callsMax) return done()
    logRejections(request)
    reject(request, reply)
  })
  app.addHook('preValidation', (_request, { open }, done) => {
    // A client may have disconnected meanwhile. Nobody would take such a call off the count.
    if (open && !open.isOver) {
      inFlight += 1
      open.whenOver = leave
    }
    done()
  })
}

function reject(request: FastifyRequest, reply: FastifyReply): void {
  const body = JSON.stringify(overloaded.body(request.id))
  reply.code(overloaded.status).hijack()
  reply.raw
    .writeHead(overloaded.status, {
      'request-id': request.id,
      'api-version': API_VERSION,
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      ...overloaded.headers,
    })
    .end(body)
}
