import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { setTracing } from '../core/tracing.ts'

/** Traces this process if an endpoint is set. Otherwise no module of the library is even loaded. */
export async function openTracing(
  { otlpEndpoint, traceRatio, role }: Pick<Config, 'otlpEndpoint' | 'traceRatio' | 'role'>,
  log: Logger,
): Promise<{ close(): Promise<void> }> {
  if (otlpEndpoint === undefined) return { close: async () => {} }
  const { createTracing } = await import('./opentelemetry.ts')
  const { tracing, close } = createTracing({ otlpEndpoint, traceRatio, role }, log)
  setTracing(tracing)
  return {
    async close() {
      setTracing(undefined)
      await close()
    },
  }
}
