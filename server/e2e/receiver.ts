import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeCertificate } from '../test/certificate.ts'

export interface Receiver {
  url: string
  /** The settings for a service that delivers to it. */
  settings: Record<string, string>
  /** The types of the received events, in order. */
  received: string[]
  /** Set this to change the response. */
  answer: { status: number; body?: string }
  close: () => Promise<void>
}

/** A partner's receiver with a certificate that the service trusts. */
export async function startReceiver(): Promise<Receiver> {
  const { key, cert, caFile } = makeCertificate()
  const server = createServer({ key, cert }, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    receiver.received.push(JSON.parse(body).type)
    response.writeHead(receiver.answer.status).end(receiver.answer.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: Receiver = {
    url: `https://localhost:${(server.address() as AddressInfo).port}/hook`,
    settings: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true', NODE_EXTRA_CA_CERTS: caFile },
    received: [],
    answer: { status: 204 },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}
