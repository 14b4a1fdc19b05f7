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
  mend(): void
  /** Lets new connections through; those of before stay silent for ever, as after a lost route. */
  forget(): void
}

export async function startFlakyProxy(databaseUrl: string): Promise<FlakyProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let state: 'whole' | 'cut' | 'frozen' = 'whole'

  const server = createServer((near) => {
    if (state === 'cut') return near.resetAndDestroy()
    const far = connectSocket(Number(target.port), target.hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('data', (bytes) => other.write(bytes))
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
    mend() {
      state = 'whole'
      for (const socket of sockets) socket.resume()
    },
  }
}
