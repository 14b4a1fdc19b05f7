import { connect as connectSocket, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Stands in front of PostgreSQL and reads along: what is sent for requests, and what the server says it did. */
export interface ReadingProxy {
  /** The database's address, through the proxy. */
  url: string
  /** What the pool of the requests has sent since the last call. */
  sent(): Sent
  /** Plans that auto_explain told since the last call; see explainEverything. */
  plans(): Explained[]
  /** Holds back every answer of the database. */
  freeze(): void
  restore(): void
}

export interface Sent {
  statements: number
  /** How often an answer was waited for: statements that are sent together share one. */
  roundTrips: number
}

export interface Explained {
  'Query Text': string
  Plan: PlanNode
}

export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: PlanNode[]
}

const REQUESTS = 'hourbank requests'
const LENGTH_BYTES = 4
const EXPLAINED = /^duration: .* plan:\n(\{[\s\S]*)$/

export async function startReadingProxy(databaseUrl: string): Promise<ReadingProxy> {
  const target = new URL(databaseUrl)
  const backs = new Set<Socket>()
  let sent: Sent = { statements: 0, roundTrips: 0 }
  let plans: Explained[] = []
  let isFrozen = false

  const server = createServer((near) => {
    const far = connectSocket(Number(target.port), target.hostname)
    let isOfRequests = false
    let hasExecuted = false
    // The first message, unlike all that follow, has no letter for its kind.
    const readNear = messageReader(0, (kind, body) => {
      if (kind === '') isOfRequests = body.includes(REQUESTS)
      if (!isOfRequests) return
      if (kind === 'E') sent.statements += 1
      hasExecuted ||= kind === 'E'
      if (kind === 'Q') sent = { statements: sent.statements + 1, roundTrips: sent.roundTrips + 1 }
      // A Sync after a Parse alone is what a statement costs once per connection, not per request.
      if (kind === 'S' && hasExecuted) {
        sent.roundTrips += 1
        hasExecuted = false
      }
    })
    const readFar = messageReader(1, (kind, body) => {
      const message = kind === 'N' ? noticeText(body) : undefined
      const json = message === undefined ? undefined : EXPLAINED.exec(message)?.[1]
      if (isOfRequests && json !== undefined) plans.push(JSON.parse(json))
    })
    backs.add(far)
    if (isFrozen) far.pause()
    near.on('data', (bytes) => {
      readNear(bytes)
      far.write(bytes)
    })
    far.on('data', (bytes) => {
      readFar(bytes)
      near.write(bytes)
    })
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        backs.delete(far)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const far of backs) far.destroy()
    await new Promise((resolve) => server.close(resolve))
  })

  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = `${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    sent() {
      const said = sent
      sent = { statements: 0, roundTrips: 0 }
      return said
    },
    plans() {
      const said = plans
      plans = []
      return said
    },
    freeze() {
      isFrozen = true
      for (const far of backs) far.pause()
    },
    restore() {
      isFrozen = false
      for (const far of backs) far.resume()
    },
  }
}

/** Cuts a stream into messages: a letter, a length that counts itself, a body. */
function messageReader(letters: 0 | 1, onMessage: (kind: string, body: Buffer) => void): (bytes: Buffer) => void {
  let left: Buffer = Buffer.alloc(0)
  let letterBytes = letters
  return (bytes) => {
    left = left.length === 0 ? bytes : Buffer.concat([left, bytes])
    while (left.length >= letterBytes + LENGTH_BYTES) {
      const end = letterBytes + left.readInt32BE(letterBytes)
      if (left.length < end) return
      onMessage(left.toString('latin1', 0, letterBytes), left.subarray(letterBytes + LENGTH_BYTES, end))
      left = left.subarray(end)
      letterBytes = 1
    }
  }
}

/** Fields, each a letter and a text that ends with a zero; M is the message. */
function noticeText(body: Buffer): string | undefined {
  return body
    .toString('utf8')
    .split('\0')
    .find((field) => field.startsWith('M'))
    ?.slice(1)
}
