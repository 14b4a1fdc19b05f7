import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { makeCertificate, RECEIVER_NAME } from './certificate.ts'
import { requireNoLeak } from './leaks.ts'

export interface Received {
  id: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  json: any
}

export interface Receiver {
  /** https://receiver.test:PORT/hook */
  url: string
  port: number
  caFile: string
  ca: string
  received: Received[]
  /** How to answer from now on; 204 unless told otherwise. */
  answer: (response: ServerResponse, received: Received) => void
}

/** Made once: each takes openssl a good part of a second. */
let shared: ReturnType<typeof makeCertificate> | undefined

/** A real HTTPS receiver with a certificate of its own authority. */
export async function startReceiver({ ofStranger = false } = {}): Promise<Receiver> {
  const { key, cert, caFile } = ofStranger ? makeCertificate() : (shared ??= makeCertificate())
  const receiver: Receiver = {
    url: '',
    port: 0,
    caFile,
    ca: readFileSync(caFile, 'utf8'),
    received: [],
    answer: (response) => response.writeHead(204).end(),
  }
  const server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      requireNoLeak('a webhook', body)
      const received = {
        id: String(request.headers['webhook-id']),
        path: request.url!,
        headers: request.headers,
        body,
        json: JSON.parse(body),
      }
      receiver.received.push(received)
      receiver.answer(response, received)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.port = (server.address() as AddressInfo).port
  receiver.url = `https://${RECEIVER_NAME}:${receiver.port}/hook`
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return receiver
}
