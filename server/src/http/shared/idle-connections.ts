import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Also closes connections without a request yet: browsers open them in advance, and Node does not see them as idle. */
export function idleConnectionCloser(server: Server): () => void {
  const unused = new Set<Socket>()
  server.on('connection', (socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }) => unused.delete(socket))
  return () => {
    server.closeIdleConnections()
    for (const socket of unused) socket.destroy()
  }
}
