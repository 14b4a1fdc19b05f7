import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { verifyWebhook, WebhookVerificationError, type HourbankEvent } from '@hourbank/client'

export const PATH = '/hook'
/** Far above the largest event. Strangers can send here, so nothing larger is even read. */
const BODY_BYTES_MAX = 256 * 1024
const REQUEST_TIMEOUT_MS = 10_000
const CONNECTIONS_MAX = 200

export interface ReceiverOptions {
  /** One, or two while a secret is being rotated. */
  secrets: readonly string[]
  /** Resolves when the event is safe. */
  keep: (event: HourbankEvent) => Promise<void>
  /** Absent: something in front of this speaks TLS. */
  tls: { cert: Buffer; key: Buffer } | undefined
}

class Answer extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

export function createReceiver({ secrets, keep, tls }: ReceiverOptions): Server {
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    receive(request).then(
      () => response.writeHead(204).end(),
      (error: unknown) => refuse(response, error),
    )
  }

  async function receive(request: IncomingMessage): Promise<void> {
    if (request.url?.split('?')[0] !== PATH) throw new Answer(404, `Deliveries go to ${PATH}`)
    if (request.method !== 'POST') throw new Answer(405, 'Deliveries are POSTed')
    const event = await verifyWebhook(await readBody(request), request.headers, secrets)
    // The answer comes after this: a 2xx for what is not on disk would lose it.
    await keep(event)
  }

  const server = tls ? createHttpsServer(tls, listener) : createHttpServer(listener)
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.headersTimeout = REQUEST_TIMEOUT_MS
  server.maxConnections = CONNECTIONS_MAX
  return server
}

/** The bytes as they came: what was parsed and written again has another signature. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Answer(413, `A delivery has at most ${BODY_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function refuse(response: ServerResponse, error: unknown): void {
  const isVerdict = error instanceof WebhookVerificationError
  const status = isVerdict ? 400 : error instanceof Answer ? error.status : 500
  const reason = isVerdict ? error.reason : error instanceof Answer ? error.message : 'not kept, send it again'
  console.error(`refused with ${status}: ${status === 500 ? (error as Error).message : reason}`)
  // What is left of an oversized body is not waited for.
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${reason}\n`)
}
