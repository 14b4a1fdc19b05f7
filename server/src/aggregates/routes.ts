import { isAscii } from 'node:buffer'
import { Type } from 'typebox'
import { coalesce, type CoalesceLimits } from '../db/coalesce.ts'
import type { Deps } from '../http/deps.ts'
import { entityTagOf } from '../http/etag.ts'
import type { PartnerApi } from '../http/partner-api.ts'
import { findDocument } from './queries.ts'
import { NOTHING_CLOSED } from './render-document.ts'
import { CommunityAggregates } from './schema.ts'

const READ_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 10_000 }

interface Document {
  /** As bytes only if it must be encoded: a text goes out with the head in one write, bytes take a write of their own. */
  body: string | Buffer
  entityTag: string
}

export function aggregateRoutes(api: PartnerApi, { sql, access }: Deps): void {
  const memory = access.communityMemory<Document>()
  const readDocument = coalesce(async (communityId: number, calls: null[]) => {
    const document = await memory.read(communityId, async () => {
      const text = (await findDocument(sql, communityId)) ?? NOTHING_CLOSED
      const bytes = Buffer.from(text)
      return { body: isAscii(bytes) ? text : bytes, entityTag: entityTagOf(bytes) }
    })
    return calls.map(() => document)
  }, READ_LIMITS)

  api.get('/aggregates/community', {
    config: { scope: 'aggregates.read' },
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
      // Text goes out as it is stored, unserialised; the schema is for the reader, and a test holds the one to the other.
      const send = ({ body, entityTag }: Document) => {
        reply.entityTag = entityTag
        reply.type('application/json; charset=utf-8').send(body as never)
      }
      const known = memory.recall(communityId)
      if (known) return send(known)
      return readDocument(communityId, null).then(send)
    },
  })
}
