/*
 * The points at which a process can be traced. `tracing` is undefined unless OTEL_EXPORTER_OTLP_ENDPOINT is set, so that
 * each point costs one comparison otherwise. Only process/opentelemetry.ts knows the library behind it.
 */

export type Attributes = Record<string, string | number | undefined>

export interface Span {
  /** Runs work in this span: what it starts belongs to the span as long as that is open. */
  run<T>(work: () => T): T
  /** `error.type` among the attributes marks it as failed. */
  end(attributes?: Attributes): void
}

export interface SpanOptions {
  kind?: 'server' | 'client'
  /** Another span, or a `traceparent` as in W3C Trace Context. A malformed one is ignored. */
  parent?: Span | string | undefined
  attributes?: Attributes
}

/** The time that one item waits for its batch. */
export interface QueuedSpan {
  readonly parent: Span
  /** Ends the wait, with a link to the batch, which belongs to one of its items only. */
  end(batch: Span): void
}

export interface Tracing {
  /** Returns undefined if the trace is not sampled. */
  start(name: string, options: SpanOptions): Span | undefined
  /** The open span in which the caller runs. */
  current(): Span | undefined
  startQueued(): QueuedSpan | undefined
  /** Remembers the current trace under a key, for a delivery that follows from it, here or on another node. */
  remember(key: string): void
  /** The `traceparent` that was remembered, unless it was too long ago. */
  recall(key: string): string | undefined
  /** Returns what was remembered since the last call, for other nodes, as the payload of a notification. */
  takeAnnouncement(): string
  hear(announcement: string): void
}

export let tracing: Tracing | undefined

/** Called once per process, before it serves. */
export function setTracing(value: Tracing | undefined): void {
  tracing = value
}

/** Runs work in a span of its own below the current one, if there is one. */
export async function traced<T>(
  name: string,
  options: SpanOptions,
  work: () => Promise<T>,
  describe: (result: T) => Attributes = () => ({}),
): Promise<T> {
  const parent = options.parent ?? tracing?.current()
  const span = parent && tracing?.start(name, { ...options, parent })
  return span ? runIn(span, work, describe) : work()
}

/** Runs the work of a batch in a span below its first item that is traced. */
export async function tracedBatch<T>(items: (QueuedSpan | undefined)[], work: () => Promise<T>): Promise<T> {
  const queued = items.filter((item) => item !== undefined)
  const span = queued[0] && tracing?.start('batch', { parent: queued[0].parent })
  if (!span) return work()
  for (const item of queued) item.end(span)
  return runIn(span, work, () => ({ 'hourbank.batch.items': items.length }))
}

export async function runIn<T>(
  span: Span,
  work: () => Promise<T>,
  describe: (result: T) => Attributes = () => ({}),
): Promise<T> {
  try {
    const result = await span.run(work)
    span.end(describe(result))
    return result
  } catch (error) {
    // Never the message: it may quote values.
    const { code, name } = error as { code?: unknown; name?: string }
    span.end({ 'error.type': typeof code === 'string' ? code : (name ?? 'Error') })
    throw error
  }
}
