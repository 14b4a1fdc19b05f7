import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { COMPRESS_BYTES_MIN } from '../shared/encoding.ts'
import type { PageMeta } from '../shared/paging.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** The precomputed entity tag of a cached body. */
    entityTag: string | undefined
  }
}

/** Longer texts are encoded once, for the hash and the socket; shorter ones are sent in one write with the headers. */
const SHORT_LENGTH_MAX = 2048

/** Returns an entity tag without the weak prefix `W/`. */
export function entityTagOf(body: string | Buffer): string {
  return `"${hash('sha1', body, 'base64url')}"`
}

/**
 * Tags a page of changes without the time until which it is complete and the cursor. The time is mostly now and a sealed
 * cursor is always another, so a list in which nothing has changed would never get 304.
 */
export function tagChanges(reply: FastifyReply, data: readonly unknown[], meta: Static<typeof PageMeta>): void {
  const { synced_until: _now, next_cursor: _sealed, ...rest } = meta
  reply.entityTag = entityTagOf(JSON.stringify([data, rest]))
}

/**
 * Adds weak entity tags to successful GETs and answers 304. Weak, because compressed and plain bodies share one tag.
 * If-None-Match may be a list or `*` (RFC 9110 13.1.2).
 */
export function answerNotModified(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: DoneFuncWithErrOrRes,
): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const isBody = typeof payload === 'string' || Buffer.isBuffer(payload)
  if (!isRead || reply.statusCode !== 200 || !isBody) return done(null, payload)
  const isKnown = reply.entityTag !== undefined
  const isLong = !isKnown && typeof payload === 'string' && payload.length > SHORT_LENGTH_MAX
  const body = isLong ? Buffer.from(payload) : payload
  const tag = reply.entityTag ?? entityTagOf(body)
  reply.header('etag', `W/${tag}`)
  // Every encoding and 304 need Vary (RFC 9110 section 15.4.5); @fastify/compress sets it only when it compresses.
  if (Buffer.byteLength(body) >= COMPRESS_BYTES_MIN && !reply.hasHeader('vary')) reply.header('vary', 'accept-encoding')
  if (!matches(request.headers['if-none-match'], tag)) return done(null, body)
  for (const name of ['content-length', 'content-type', 'content-encoding']) reply.removeHeader(name)
  reply.code(304)
  // An empty text would get the header content-length: 0, which a cache may take for the length of the body. For HEAD,
  // Fastify measures whatever is no stream.
  done(null, request.method === 'HEAD' ? Readable.from([]) : null)
}

function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag)
}
