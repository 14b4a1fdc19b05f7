import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

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

export const RECEIVER_NAME = 'receiver.test'

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

function makeCertificate() {
  const dir = mkdtempSync(join(tmpdir(), 'hourbank-receiver-'))
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
  const at = (name: string) => join(dir, name)
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const authority = ['-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '2', '-subj', '/CN=Test CA']
  openssl(['req', '-x509', ...newKey, ...authority])
  openssl(['req', ...newKey, '-keyout', at('key.pem'), '-out', at('request.pem'), '-subj', `/CN=${RECEIVER_NAME}`])
  writeFileSync(at('names'), `subjectAltName=DNS:${RECEIVER_NAME},DNS:localhost,IP:127.0.0.1`)
  const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', at('names')]
  openssl(['x509', '-req', '-in', at('request.pem'), ...signed, '-out', at('cert.pem')])
  return { key: readFileSync(at('key.pem')), cert: readFileSync(at('cert.pem')), caFile: at('ca.pem') }
}

function openssl(args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' })
}
