import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { verifyWebhook, WebhookVerificationError, type HourbankEvent } from '@hourbank/client'

export const PATH = '/hook'
/** Far above the largest event. Anyone can send requests here, so nothing larger is read. */
const BODY_BYTES_MAX = 256 * 1024
const REQUEST_TIMEOUT_MS = 10_000
const CONNECTIONS_MAX = 200

export interface ReceiverOptions {
  /** One secret, or two during a rotation. */
  secrets: readonly string[]
  /** Resolves when the event is stored. */
  keep: (event: HourbankEvent) => Promise<void>
  /** Undefined if a proxy handles TLS. */
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
    // Respond only after this: a 2xx for an event that is not on disk would lose it.
    await keep(event)
  }

  const server = tls ? createHttpsServer(tls, listener) : createHttpServer(listener)
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.headersTimeout = REQUEST_TIMEOUT_MS
  server.maxConnections = CONNECTIONS_MAX
  return server
}

/** Returns the raw bytes: a body that was parsed and serialized again has a different signature. */
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
  // Do not wait for the rest of an oversized body.
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${reason}\n`)
}
