import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** HTTP clients do not pipeline, except for tools that measure load. */
const WAITING_MAX = 16

/**
 * Closes a connection on which more requests wait for the responses to earlier ones. Node passes on all requests of a
 * packet at once and keeps their responses until it is their turn, so a packet of 25 kB could take hundreds of megabytes.
 */
export function limitPipelining(handle: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>()
  return (request, response) => {
    // Only the first response has the socket.
    if (response.socket) return handle(request, response)
    const { socket } = request
    const count = (waiting.get(socket) ?? 0) + 1
    if (count > WAITING_MAX) return void socket.destroy()
    waiting.set(socket, count)
    response.once('close', () => waiting.set(socket, waiting.get(socket)! - 1))
    handle(request, response)
  }
}
