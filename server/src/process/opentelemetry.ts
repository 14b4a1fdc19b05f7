import { AsyncLocalStorage } from 'node:async_hooks'
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as LibrarySpan,
} from '@opentelemetry/api'
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Attributes, Span, SpanOptions, Tracing } from '../core/tracing.ts'
import { within } from '../core/within.ts'
import { createTraceMemory } from './trace-memory.ts'

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const
const FINAL_EXPORT_TIMEOUT_MS = 2000
/** With retries. A collector that is away delays the end of the process by no more than this. */
const EXPORT_TIMEOUT_MS = 5000

/** A span with the context in which its children start. */
interface OpenSpan extends Span {
  readonly context: Context
  readonly isOpen: boolean
}

export function createTracing(
  { otlpEndpoint, traceRatio, role }: { otlpEndpoint: string } & Pick<Config, 'traceRatio' | 'role'>,
  log: Logger,
): { tracing: Tracing; close(): Promise<void> } {
  const provider = new TracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
    resource: resourceFromAttributes({ 'service.name': 'hourbank', 'hourbank.role': role }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    // By the trace's id alone, so that all nodes decide alike and a caller's flag cannot make us record more.
    sampler: new TraceIdRatioBasedSampler(traceRatio),
    spanProcessors: [new BatchSpanProcessor({ exporter: createExporter(otlpEndpoint, log) })],
  })
  const tracer = provider.getTracer('hourbank')
  const storage = new AsyncLocalStorage<OpenSpan>()
  const memory = createTraceMemory()

  function start(name: string, { kind, parent, attributes = {} }: SpanOptions): OpenSpan | undefined {
    const span = tracer.startSpan(
      name,
      { ...(kind && { kind: KINDS[kind] }), attributes: withoutUndefined(attributes) },
      contextOf(parent),
    )
    return span.isRecording() ? open(span) : undefined
  }

  function open(span: LibrarySpan): OpenSpan {
    const opened: OpenSpan = {
      context: trace.setSpan(ROOT_CONTEXT, span),
      get isOpen() {
        return span.isRecording()
      },
      run: (work) => storage.run(opened, work),
      end(attributes = {}) {
        span.setAttributes(withoutUndefined(attributes))
        if (attributes['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      },
    }
    return opened
  }

  /** Background work that a request started runs in its context too, but has nothing to do with it once that has ended. */
  function current(): OpenSpan | undefined {
    const span = storage.getStore()
    return span?.isOpen ? span : undefined
  }

  const tracing: Tracing = {
    start,
    current,
    startQueued() {
      const parent = current()
      const span = parent && tracer.startSpan('queue', {}, parent.context)
      if (!span) return undefined
      return {
        parent,
        end(batch) {
          span.addLink({ context: trace.getSpanContext((batch as OpenSpan).context)! })
          span.end()
        },
      }
    },
    remember(key) {
      const context = current()?.context
      const span = context && trace.getSpanContext(context)
      if (span) memory.remember(key, `00-${span.traceId}-${span.spanId}-01`)
    },
    recall: memory.recall,
    takeAnnouncement: memory.takeAnnouncement,
    hear: memory.hear,
  }
  return {
    tracing,
    close: () =>
      within(
        FINAL_EXPORT_TIMEOUT_MS,
        provider.shutdown().catch(() => {}),
      ),
  }
}

function contextOf(parent: Span | string | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT
  if (typeof parent !== 'string') return (parent as OpenSpan).context
  const caller = parseTraceParent(parent)
  return caller ? trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true }) : ROOT_CONTEXT
}

/** The library keeps quiet about failures. */
function createExporter(endpoint: string, log: Logger): SpanExporter {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  })
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) log.warn({ err: result.error }, 'traces could not be exported')
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

function withoutUndefined(attributes: Attributes): Record<string, string | number> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as Record<
    string,
    string | number
  >
}
