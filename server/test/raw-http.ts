import { request } from 'node:http'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Answer } from './bank.ts'

/** By encoding. */
export const UNPACKERS = { gzip: gunzipSync, br: brotliDecompressSync }

/** Writes bytes as they are, for what no HTTP client would send, and reads until the service hangs up. */
export async function sendBytes(
  port: number,
  bytes: string | Uint8Array,
  { thenEnd = false } = {},
): Promise<Answer | undefined> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const chunks: Buffer[] = []
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('end', resolve)
    // The service may hang up while we still write; what it said before counts.
    socket.on('error', () => resolve())
    socket.write(bytes)
    if (thenEnd) socket.end()
  })
  socket.destroy()
  return chunks.length === 0 ? undefined : parseAnswer(Buffer.concat(chunks).toString())
}

/** Undefined: the service said nothing before it hung up. */
function parseAnswer(text: string): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]))
  return { status: Number(statusLine.split(' ')[1]), headers, body: parseBody(rest.join('\r\n\r\n')) }
}

/** For methods that fetch refuses to send, and without the headers that it adds. The body is not decompressed. */
export async function sendPlain(
  url: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer & { bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, async (incoming) => {
      const bytes = Buffer.concat(await incoming.toArray())
      const fields = Object.entries(incoming.headers).map(([name, value]) => [name, `${value}`] as [string, string])
      resolve({
        status: incoming.statusCode!,
        headers: new Headers(fields),
        body: incoming.headers['content-encoding'] ? undefined : parseBody(bytes.toString()),
        bytes,
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
