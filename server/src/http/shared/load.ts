import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

/** A loop this far behind answers nobody in time; turning some away keeps the rest served. */
const EVENT_LOOP_DELAY_MAX_MS = 2000
/** A start compiles hundreds of schemas in one go, which on a busy machine takes seconds and says nothing of the load. */
const STARTING_MS = 15_000

export function shedLoad(app: FastifyInstance): void {
  const startedAtMs = performance.now()
  void app.register(underPressure, {
    maxEventLoopDelay: EVENT_LOOP_DELAY_MAX_MS,
    // A time without a single sample counts as an endless delay, so it must be longer than the delay that is allowed.
    sampleInterval: 2 * EVENT_LOOP_DELAY_MAX_MS,
    pressureHandler() {
      if (performance.now() - startedAtMs < STARTING_MS) return
      throw new ApiError('overloaded')
    },
  })
}
