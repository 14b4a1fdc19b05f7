import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  links?: { spanId: string }[]
  attributes: Record<string, string | number>
}

export interface OtlpReceiver {
  url: string
  spans: ReceivedSpan[]
  /** How to answer from now on. */
  status: number
  /** Everything that came, as it came. */
  text(): string
}

interface WireSpan extends Omit<ReceivedSpan, 'attributes'> {
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

/** Receives traces by OTLP over HTTP, as a collector does. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: string[] = []
  const receiver: OtlpReceiver = { url: '', spans: [], status: 200, text: () => bodies.join('\n') }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    bodies.push(body)
    if (request.url === '/v1/traces') receiver.spans.push(...readSpans(body))
    response.writeHead(receiver.status, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return receiver
}

function readSpans(body: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[] }
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map((span) => ({
      ...span,
      attributes: Object.fromEntries(
        span.attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']),
      ),
    }))
}
