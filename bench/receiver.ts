import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { serveParent } from './children.ts'

/** A webhook receiver in its own process that counts deliveries and records their times. */

export type ReceiverQuestion = 'port' | 'forget' | 'arrivals' | 'references'
export interface Arrivals {
  count: number
  /** The rate between the first tenth and the last tenth of the arrivals. */
  perSecond: number
  /** Unix time. */
  lastAtMs: number
  /** A sample delivery, which the comparison sends again. */
  headers: Record<string, string>
  body: string
}

const FROM = 0.1
const UNTIL = 0.9

let timesMs: number[] = []
let last: { headers: Record<string, string>; body: string } = { headers: {}, body: '' }
const references = new Map<string, number>()

const server = createServer(
  { key: readFileSync(process.env['KEY_FILE']!), cert: readFileSync(process.env['CERT_FILE']!) },
  (incoming, response) => {
    const path = incoming.url!
    // Resets the connection, as if the process had died.
    if (path === '/dead') return void incoming.socket.destroy()
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const atMs = performance.timeOrigin + performance.now()
      const body = Buffer.concat(chunks)
      if (path === '/fresh') references.set(JSON.parse(body.toString()).data.reference, atMs)
      timesMs.push(atMs)
      if (timesMs.length === 1) last = { headers: incoming.headers as Record<string, string>, body: body.toString() }
      response.writeHead(204).end()
    })
  },
)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

serveParent<ReceiverQuestion>(async (question) => {
  if (question === 'port') return (server.address() as AddressInfo).port
  if (question === 'references') return references
  if (question === 'forget') {
    timesMs = []
    references.clear()
    return undefined
  }
  const [from, until] = [Math.floor(timesMs.length * FROM), Math.floor(timesMs.length * UNTIL)]
  const perSecond = ((until - from) * 1000) / (timesMs[until]! - timesMs[from]!)
  return { count: timesMs.length, perSecond, lastAtMs: timesMs.at(-1) ?? Number.NaN, ...last } satisfies Arrivals
})
