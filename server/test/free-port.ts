import { createServer } from 'node:net'

/** Above those that fetch refuses, below those of connections on Linux. */
const PORT_MIN = 11_000
const PORT_MAX = 32_000
/** Each process has ports of its own: a service listens some time after its port was found free. */
const PORTS_PER_PROCESS = 100
const FIRST_PORT = PORT_MIN + (process.pid % Math.floor((PORT_MAX - PORT_MIN) / PORTS_PER_PROCESS)) * PORTS_PER_PROCESS
let portsTried = 0

/** Outside the range of outgoing connections, so that a restarted service finds it free again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (portsTried++ % PORTS_PER_PROCESS)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}
