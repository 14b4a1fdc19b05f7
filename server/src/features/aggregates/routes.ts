import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { coalesce, type CoalesceLimits } from '../../postgres/coalesce.ts'
import type { Deps } from '../../http/deps.ts'
import { bestEncoding, COMPRESS_BYTES_MIN, encodeOnce, type Encoding } from '../../http/shared/encoding.ts'
import { entityTagOf } from '../../http/partner/etag.ts'
import type { PartnerApi } from '../../http/partner/partner-api.ts'
import { findDocument } from './queries.ts'
import { NOTHING_CLOSED } from './render-document.ts'
import { CommunityAggregates } from './schema.ts'

const READ_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 10_000 }

interface Document {
  body: Buffer
  compressed: ((encoding: Encoding) => Promise<Buffer>) | undefined
  entityTag: string
}

export function aggregateRoutes(api: PartnerApi, { sql, access }: Deps): void {
  const cache = access.createCommunityCache<Document>()
  const readDocument = coalesce(async (communityId: number, calls: null[]) => {
    const document = await cache.load(communityId, async () => {
      const body = Buffer.from((await findDocument(sql, communityId)) ?? NOTHING_CLOSED)
      const compressed = body.length < COMPRESS_BYTES_MIN ? undefined : encodeOnce(async () => body)
      return { body, compressed, entityTag: entityTagOf(body) }
    })
    return calls.map(() => document)
  }, READ_LIMITS)

  api.get('/aggregates/community', {
    config: { scope: 'aggregates.read' },
    // The document is cached in compressed form.
    compress: false,
    schema: {
      operationId: 'getCommunityAggregates',
      summary: 'Read bucketed community totals',
      description:
        'Figures of closed months, without personal data. They change only when a month is closed, ten days after its end.',
      tags: ['Aggregates'],
      response: { 200: Type.Object({ data: CommunityAggregates }) },
    },
    handler(request, reply) {
      const { communityId } = request.caller
      const encoding = bestEncoding(request.headers['accept-encoding'])
      const document = cache.get(communityId)
      if (!document) return readDocument(communityId, null).then((read) => prepareBody(read, encoding, reply)) as never
      const body = prepareBody(document, encoding, reply)
      if (body instanceof Promise) return body as never
      // Hot path: skip the promise.
      reply.send(body as never)
      return undefined
    },
  })
}

/** Sends the stored document as it is. The schema is documentation only; a test compares the two. */
function prepareBody(document: Document, encoding: Encoding, reply: FastifyReply): Buffer | Promise<Buffer> {
  reply.entityTag = document.entityTag
  reply.type('application/json; charset=utf-8')
  if (encoding === 'identity' || !document.compressed) return document.body
  return document.compressed(encoding).then((body) => {
    reply.header('content-encoding', encoding).header('vary', 'accept-encoding')
    return body
  })
}
