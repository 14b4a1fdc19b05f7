import { connect as connectSocket, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Stands in front of PostgreSQL and fails as networks do. */
export interface FlakyProxy {
  /** The database's address, through the proxy. */
  url: string
  /** Ends every connection and refuses new ones, as a server that was stopped. */
  cut(): void
  /** Keeps every connection and passes nothing on, as a network that drops packets. */
  freeze(): void
  /** Passes everything on again, what was held back first. */
  restore(): void
  /** Lets new connections through; those of before stay silent for ever, as after a lost route. */
  forget(): void
  /** Passes everything on after a while. */
  slow(delayMs: number): void
  /** Ends every connection with a reset, and lets new ones through. */
  reset(): void
  /** Ends every connection and answers new ones as a server that has too many. */
  exhaust(): void
}

/** FATAL 53300 in PostgreSQL's protocol: a letter, a length that counts itself, fields that end with a zero. */
const TOO_MANY_CLIENTS = (() => {
  const fields = ['SFATAL', 'VFATAL', 'C53300', 'Msorry, too many clients already', ''].map((field) => `${field}\0`)
  const body = Buffer.from(fields.join(''))
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + length.length)
  return Buffer.concat([Buffer.from('E'), length, body])
})()

export async function startFlakyProxy(databaseUrl: string): Promise<FlakyProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let state: 'whole' | 'cut' | 'frozen' | 'exhausted' = 'whole'
  let delayMs = 0

  const server = createServer((near) => {
    if (state === 'cut') return near.resetAndDestroy()
    if (state === 'exhausted') {
      near.on('error', () => {})
      return near.once('data', () => near.end(TOO_MANY_CLIENTS))
    }
    const far = connectSocket(Number(target.port), target.hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('data', (bytes) => {
        if (delayMs === 0) other.write(bytes)
        else setTimeout(() => other.write(bytes), delayMs)
      })
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      if (state === 'frozen') socket.pause()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  function cut(): void {
    state = 'cut'
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(async () => {
    cut()
    await new Promise((resolve) => server.close(resolve))
  })

  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = `${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    cut,
    freeze() {
      state = 'frozen'
      for (const socket of sockets) socket.pause()
    },
    forget() {
      state = 'whole'
    },
    slow(ms) {
      delayMs = ms
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    exhaust() {
      cut()
      state = 'exhausted'
    },
    restore() {
      state = 'whole'
      delayMs = 0
      for (const socket of sockets) socket.resume()
    },
  }
}
