import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Weak entity tags on successful GETs: gzip and plain bodies share one tag. Lists and `*` in If-None-Match count
 * (RFC 9110 13.1.2).
 */
export async function answerNotModified(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isRead || reply.statusCode !== 200 || typeof payload !== 'string') return payload
  const tag = `"${hash('sha1', payload, 'base64url')}"`
  reply.header('etag', `W/${tag}`)
  if (!matches(request.headers['if-none-match'], tag)) return payload
  reply.code(304).removeHeader('content-length').removeHeader('content-type')
  return ''
}

function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag)
}
