import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

/** An event loop this far behind answers no request in time; rejecting some keeps the others served. */
const EVENT_LOOP_DELAY_MAX_MS = 2000
/** Startup compiles hundreds of schemas at once, which takes seconds on a busy machine and does not indicate load. */
const STARTUP_GRACE_MS = 15_000

export function shedLoad(app: FastifyInstance): void {
  const startedAtMs = performance.now()
  void app.register(underPressure, {
    maxEventLoopDelay: EVENT_LOOP_DELAY_MAX_MS,
    // An interval without a sample counts as an infinite delay, so it must exceed the allowed delay.
    sampleInterval: 2 * EVENT_LOOP_DELAY_MAX_MS,
    pressureHandler() {
      if (performance.now() - startedAtMs < STARTUP_GRACE_MS) return
      throw new ApiError('overloaded')
    },
  })
}
