import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Closes what nobody waits on. Node does not count connections on which nothing was asked yet; browsers open such in advance. */
export function idleConnectionCloser(server: Server): () => void {
  const silent = new Set<Socket>()
  server.on('connection', (socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  server.on('request', ({ socket }) => silent.delete(socket))
  return () => {
    server.closeIdleConnections()
    for (const socket of silent) socket.destroy()
  }
}
