import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

/** A loop this far behind answers nobody in time; turning some away keeps the rest served. */
const EVENT_LOOP_DELAY_MAX_MS = 2000

export function shedLoad(app: FastifyInstance): void {
  void app.register(underPressure, {
    maxEventLoopDelay: EVENT_LOOP_DELAY_MAX_MS,
    // A time without a single sample counts as an endless delay, so it must be longer than the delay that is allowed.
    sampleInterval: 2 * EVENT_LOOP_DELAY_MAX_MS,
    pressureHandler() {
      throw new ApiError('overloaded')
    },
  })
}
