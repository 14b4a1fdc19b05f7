import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

/** Startup compiles hundreds of schemas at once, which takes seconds on a busy machine and does not indicate load. */
const STARTUP_GRACE_MS = 15_000

/** An event loop this far behind answers no request in time; rejecting some keeps the others served. */
export function shedLoad(app: FastifyInstance, eventLoopDelayMs: number): void {
  const startedAtMs = performance.now()
  void app.register(underPressure, {
    maxEventLoopDelay: eventLoopDelayMs,
    // An interval without a sample counts as an infinite delay, so it must exceed the allowed delay.
    sampleInterval: 2 * eventLoopDelayMs,
    pressureHandler() {
      if (performance.now() - startedAtMs < STARTUP_GRACE_MS) return
      throw new ApiError('overloaded')
    },
  })
}
