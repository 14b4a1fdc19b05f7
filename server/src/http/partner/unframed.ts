import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { STATUS_CODES } from 'node:http'
import { ApiError, type ErrorCode } from '../shared/errors.ts'
import { API_VERSION } from './frame.ts'
import { newRequestId } from '../shared/request-id.ts'
import { sendError } from '../shared/send-error.ts'

const CLIENT_ERRORS: Record<string, ErrorCode> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
}

/** Formats errors that occur before a route is found like all others. */
export const answerUnframed: Pick<FastifyServerOptions, 'frameworkErrors' | 'clientErrorHandler'> = {
  frameworkErrors(error, request, reply) {
    reply.header('api-version', API_VERSION).header('request-id', request.id)
    sendError(error, request, reply)
  },

  clientErrorHandler(error, socket) {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const failure = new ApiError(CLIENT_ERRORS[error.code ?? ''] ?? 'invalid_request')
    const requestId = newRequestId()
    const body = JSON.stringify(failure.body(requestId))
    const lines = [
      `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `API-Version: ${API_VERSION}`,
      `Request-Id: ${requestId}`,
      'Connection: close',
    ]
    socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
  },
}

/** An unknown Expect header may be ignored (RFC 9110 10.1.1); Node's 417 response has no body. */
export function ignoreExpectations({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}
