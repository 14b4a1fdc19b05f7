import { Type } from 'typebox'
import { coalesce, type CoalesceLimits } from '../../postgres/coalesce.ts'
import type { Deps } from '../../http/deps.ts'
import { ApiError, bodyTooLarge } from '../../http/shared/errors.ts'
import { API_PREFIX } from '../../http/partner/frame.ts'
import { toHours } from '../../core/hours.ts'
import { Id, parseId } from '../../http/shared/ids.ts'
import { PageMeta, PageQuery, finishList, readListRequest } from '../../http/shared/paging.ts'
import { prefersCsv, streamCsv } from '../../http/stream-csv.ts'
import { isAwaited } from '../../http/shared/time-limit.ts'
import { invalidField } from '../../http/shared/validation.ts'
import type { PartnerApi } from '../../http/partner/partner-api.ts'
import { callsFor, countResults, creditBatch } from './credit-batch.ts'
import { createCreditBatcher, presentCredit } from './credit-member.ts'
import { creditsExport } from './export-credits.ts'
import { createFaults } from './faults-on-demand.ts'
import type { CreditFields } from './insert-credits.ts'
import { findBalances, listCredits, sumCredits } from './queries.ts'
import { reverseCredit } from './reverse-credit.ts'
import {
  Balance,
  BATCH_ITEMS_MAX,
  CREDIT,
  Credit,
  CreditAnswer,
  CreditBatch,
  CreditBatchRequest,
  CreditRequest,
  Reference,
  Reversal,
  ReverseRequest,
} from './schema.ts'

const READ_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 10_000 }
/** About 500 bytes per item. Longer notes need smaller batches. */
const BATCH_BYTES_MAX = 512 * 1024
/** For about ten statements. Shorter than the SDK's limit for one attempt, so that its caller gets the answer. */
const BATCH_TIMEOUT_MS = 25_000

/** The example in the description. */
const CREDITS_CSV = `${Object.keys(CREDIT).join()}\r\n${Object.values(CREDIT).join()}\r\n`

export function walletRoutes(api: PartnerApi, { sql, epoch, config, rateLimits, metrics, partnerFiles }: Deps): void {
  const creditMember = createCreditBatcher(sql)
  const faults = createFaults(api)
  const findBalance = coalesce(async (communityId: number, memberIds: number[]) => {
    const byMember = new Map((await findBalances(sql, communityId, memberIds)).map((row) => [row.member_id, row]))
    return memberIds.map((id) => byMember.get(id))
  }, READ_LIMITS)

  api.get('/wallet/balance/:userId', {
    config: { scope: 'wallet.read', errors: ['user_not_found'] },
    schema: {
      operationId: 'getBalance',
      summary: "Read a member's balance",
      description: 'In hours, with at most two decimals; negative if the member has received more than given.',
      tags: ['Wallet'],
      params: Type.Object({ userId: Type.String({ description: 'An integer', examples: ['42'] }) }),
      response: { 200: Type.Object({ data: Balance }) },
    },
    handler: async (request) => {
      const id = parseId(request.params.userId)
      const row = id === undefined ? undefined : await findBalance(request.caller.communityId, id)
      if (!row) throw new ApiError('user_not_found')
      return { data: { user_id: row.member_id, balance_hours: toHours(row.balance), as_of: row.updated_at } }
    },
  })

  api.post('/wallet/credit', {
    config: {
      scope: 'wallet.write',
      errors: ['user_not_found', new ApiError('reference_conflict', { data: CREDIT }), 'daily_limit_reached'],
    },
    schema: {
      operationId: 'creditWallet',
      summary: 'Credit hours from a settled bank transfer',
      description:
        'A reference is credited once. If the response is lost, send the same request again: with the same member, hours and settlement date it returns 200 and the current state of the credit. A different request with a known reference is a conflict, and data is the stored credit.',
      tags: ['Wallet'],
      body: CreditRequest,
      response: {
        200: Type.Object(CreditAnswer.properties, {
          description: 'The credit already existed',
          examples: [{ data: { ...CREDIT, replayed: true } }],
        }),
        201: CreditAnswer,
      },
    },
    ...faults.hooksFor('credit'),
    handler: async (request, reply) => {
      const { credit, replayed } = await creditMember(request.caller, request.body)
      if (!replayed) reply.code(201).header('location', creditPath(credit.reference))
      return { data: { ...credit, replayed } }
    },
  })

  api.post('/wallet/credits/batch', {
    bodyLimit: BATCH_BYTES_MAX,
    config: { scope: 'wallet.write', answerWithinMs: BATCH_TIMEOUT_MS, errors: [bodyTooLarge(BATCH_BYTES_MAX)] },
    // Before the schema, which would describe every problem with every item of a far too long list.
    preValidation: async ({ body }) => {
      const items = (body as { credits?: unknown } | null)?.credits
      if (Array.isArray(items) && items.length > BATCH_ITEMS_MAX) {
        throw invalidField('credits', 'too_many', `must have at most ${BATCH_ITEMS_MAX} entries`)
      }
    },
    schema: {
      operationId: 'creditWallets',
      summary: 'Credit hours from many settled bank transfers',
      description: `Up to ${BATCH_ITEMS_MAX} credits, each with the rules and the outcome of a single credit in this order; the response is 200 whatever their outcomes. A batch is committed in parts. After any failure, send the same batch again: existing credits are replayed, and the rest is credited. It counts as one call per 20 credits against the rate limit; a batch that counts as more calls than are left gets 429, and nothing is credited.`,
      tags: ['Wallet'],
      body: CreditBatchRequest,
      response: { 200: CreditBatch },
    },
    handler: async (request, reply) => {
      const { caller, body } = request
      // The frame counted one call, before the body was read.
      await rateLimits.spendMore(caller, reply, callsFor(body.credits.length) - 1)
      const data = await creditBatch(faults.creditItem(creditMember), caller, body.credits, () => isAwaited(reply))
      faults.loseBatch(request, body.credits, data)
      for (const { result } of data) metrics.batchedCredits.inc({ result })
      return { data, meta: countResults(data) }
    },
  })

  api.get('/wallet/credits', {
    config: { scope: ['wallet.read', 'wallet.write'], csvExample: CREDITS_CSV },
    schema: {
      operationId: 'listCredits',
      summary: "List the partner's own credits",
      description:
        'For reconciliation: the credits of all clients of the partner, with count and sum of the whole selection. With the header Accept: text/csv, the response is the whole selection as CSV, and limit and cursor have no effect, but must be valid. Text that a spreadsheet would read as a formula is preceded by an apostrophe.',
      tags: ['Wallet'],
      querystring: Type.Object({
        ...PageQuery,
        reference: Type.Optional(Reference),
        user_id: Type.Optional(Type.Integer({ ...Id, description: 'Only to this member' })),
        status: Type.Optional(
          Type.Enum(['completed', 'reversed'], { description: 'Only completed or only reversed credits' }),
        ),
        created_since: Type.Optional(
          Type.String({ format: 'date-time', description: 'Created at this time or later' }),
        ),
        created_until: Type.Optional(Type.String({ format: 'date-time', description: 'Created before this time' })),
        settled_on: Type.Optional(Type.String({ format: 'date', description: 'Settled on this day' })),
      }),
      response: {
        200: Type.Object({
          data: Type.Array(Credit),
          meta: Type.Object(
            {
              ...PageMeta.properties,
              total_count: Type.Integer({ description: 'For the whole selection' }),
              total_hours: Type.Number({ description: 'For the whole selection' }),
            },
            {
              title: 'CreditsMeta',
              examples: [{ limit: 25, has_more: false, next_cursor: null, total_count: 1, total_hours: 1.5 }],
            },
          ),
        }),
      },
    },
    handler: async (request, reply) => {
      const { communityId, partnerId } = request.caller
      const { limit: _limit, cursor: _cursor, ...filters } = request.query
      reply.header('vary', 'accept, accept-encoding')
      if (prefersCsv(request))
        return streamCsv(reply, partnerFiles, `${communityId}/${partnerId}`, {
          rows: creditsExport(request.caller, filters),
        }) as never
      const list = await readListRequest(sql, await epoch(), 'credits', request.query)
      const [found, sums] = await Promise.all([
        listCredits(sql, communityId, partnerId, list, filters),
        sumCredits(sql, communityId, partnerId, filters),
      ])
      const { rows, meta } = finishList(list, found, toCursor, request, reply, config.publicUrl)
      return {
        data: rows.map((row) => presentCredit(row, request.caller)),
        meta: { ...meta, total_count: sums.count, total_hours: toHours(sums.centihours) },
      }
    },
  })

  api.post('/wallet/credits/reverse', {
    config: {
      scope: 'wallet.write',
      errors: [
        'credit_not_found',
        new ApiError('reference_conflict', {
          description: 'This credit is reversed already, under another reference.',
          data: { ...CREDIT, status: 'reversed', reversed_at: '2026-02-03T10:15:00.000000Z' },
        }),
      ],
    },
    schema: {
      operationId: 'reverseCredit',
      summary: 'Reverse a credit, for a returned bank transfer',
      description:
        'Reverses the full amount, once, at any time, also for members who have left. Idempotent by reversal_reference: the same request again returns 200.',
      tags: ['Wallet'],
      body: ReverseRequest,
      response: { 200: Type.Object({ data: Reversal }), 201: Type.Object({ data: Reversal }) },
    },
    ...faults.hooksFor('reversal'),
    handler: async (request, reply) => {
      const { credit, reversal, replayed } = await reverseCredit(sql, request.caller, request.body)
      if (!replayed) reply.code(201).header('location', creditPath(credit.reference))
      const { reversal_reference, reason, created_at } = reversal
      const { reference } = credit
      return { data: { reference, reversal_reference, reason, reversed_at: created_at, credit, replayed } }
    },
  })
}

/** References may contain any character, so they are passed in the query and not in the path. */
function creditPath(reference: string): string {
  return `${API_PREFIX}/wallet/credits?reference=${encodeURIComponent(reference)}`
}

function toCursor({ id }: CreditFields) {
  return { id }
}
