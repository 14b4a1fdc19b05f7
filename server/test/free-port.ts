import { createServer, type Server } from 'node:net'

/** Above those that fetch refuses, below those that an embedded PostgreSQL chooses from. */
const PORT_MIN = 11_000
const PORT_MAX = 15_000
const PORTS_PER_PROCESS = 100
const BLOCKS = (PORT_MAX - PORT_MIN) / PORTS_PER_PROCESS
let ownBlock: Promise<number> | undefined
let portsTried = 0

/** Outside the range of outgoing connections, so that a restarted service finds it free again. */
export async function freePort(): Promise<number> {
  const firstPort = await (ownBlock ??= claimBlock())
  for (;;) {
    const port = firstPort + (portsTried++ % (PORTS_PER_PROCESS - 1))
    const server = await listenOn(port)
    if (!server) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

/**
 * Each process has ports of its own, because a service listens some time after its port was found free. Listening on the
 * last one claims the others. Returns the first.
 */
async function claimBlock(): Promise<number> {
  for (let tried = 0; tried < BLOCKS; tried++) {
    const firstPort = PORT_MIN + ((process.pid + tried) % BLOCKS) * PORTS_PER_PROCESS
    const server = await listenOn(firstPort + PORTS_PER_PROCESS - 1)
    if (!server) continue
    server.unref()
    return firstPort
  }
  throw new Error(`No block of ports from ${PORT_MIN} to ${PORT_MAX} is free.`)
}

function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
