import { fromJsonTime, isDay } from '../../core/times.ts'
import { Type } from 'typebox'
import { adminActor } from '../audit/admin-actor.ts'
import { findCommunity } from '../communities/queries.ts'
import { CsvFormat } from '../spreadsheets/admin-schema.ts'
import { sendCsv } from '../spreadsheets/send-csv.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { once, type KeyedRequest } from '../../http/console/request-once.ts'
import { describeTotal, OfficePageMeta } from '../../http/console/office-lists.ts'
import type { Deps } from '../../http/deps.ts'
import { requireCentihours, toHours } from '../../core/hours.ts'
import { parseId } from '../../http/shared/ids.ts'
import { finishList, readSortedListRequest } from '../../http/shared/paging.ts'
import { because } from '../../core/reasons.ts'
import { NotFound } from '../../core/refusal.ts'
import type { Transaction } from '../../postgres/connect.ts'
import { adjustBalance } from './adjust-balance.ts'
import {
  AdjustmentRequest,
  CorrectionRequest,
  ExchangesRequest,
  type Confirmations,
  type SlipForm,
  TransferParams,
  RecordedTransfers,
  ReversalRequest,
  TransferQuery,
  TransferRecord,
} from './admin-schema.ts'
import { correctExchange } from './correct-exchange.ts'
import { transfersExport } from './export-transfers.ts'
import { recordExchanges, type RecordOptions, type Slip } from './record-exchanges.ts'
import { reverseTransfer } from './reverse-transfer.ts'
import { findTransferRecord, listTransfers, transferSort, type TransferRow } from './transfer-list-queries.ts'

const TAGS = ['Exchanges']
/** Enough for a thousand slips with a note each. */
const SLIPS_BYTES_MAX = 1024 * 1024

export function transferAdminRoutes(api: AdminApi, deps: Deps): void {
  const { sql, reads, epoch, config } = deps
  api.get('/communities/:slug/transfers', {
    config: { role: 'viewer' },
    schema: {
      summary: 'List what moved between wallets',
      description: 'A transfer that was reversed is one record with its reversal.',
      tags: TAGS,
      querystring: TransferQuery,
      response: { 200: Type.Object({ data: Type.Array(TransferRecord), meta: OfficePageMeta }) },
    },
    handler: async (request, reply) => {
      const { with_total: withTotal = false } = request.query
      const sort = transferSort(request.query)
      const list = readSortedListRequest(await epoch(), 'admin transfers', request.query, sort && isDay)
      const found = await reads.run(request, sql, (reader) =>
        listTransfers(reader, request.community.id, list, request.query, { sort, withTotal }),
      )
      const positionOf = ({ id, occurred_on }: TransferRow) => ({ id, ...(sort && { key: occurred_on }) })
      const { rows, meta } = finishList(list, found.rows, positionOf, request, reply, config.publicUrl)
      return { data: rows.map(presentTransfer), meta: { ...meta, ...(withTotal && describeTotal(found.total)) } }
    },
  })

  api.get('/communities/:slug/transfers/export', {
    config: { role: 'viewer' },
    schema: { summary: 'Download the whole ledger as CSV', tags: TAGS, produces: ['text/csv'], querystring: CsvFormat },
    handler: async (request, reply) => {
      const community = (await findCommunity(sql, request.community.slug))!
      return sendCsv(request, reply, deps, {
        what: 'transfers',
        rows: transfersExport(community),
        format: request.query,
      })
    },
  })

  api.get('/communities/:slug/transfers/:id', {
    config: { role: 'viewer' },
    schema: {
      summary: 'One transfer',
      tags: TAGS,
      params: TransferParams,
      response: { 200: Type.Object({ data: TransferRecord }) },
    },
    handler: async (request) => ({ data: await requireTransfer(request.community.id, request.params.id) }),
  })

  api.post('/communities/:slug/exchanges', {
    config: { role: 'manager' },
    bodyLimit: SLIPS_BYTES_MAX,
    schema: {
      summary: 'Record exchanges between members, as the office has them on slips',
      description:
        'All or none. Slips that look like one entered twice (the same members, hours and day) are refused with the ' +
        'code duplicate, until confirm_duplicates says that somebody has looked. Slips below the lower limit are ' +
        'refused with the code below_limit, unless limit_reason says why they are allowed.',
      tags: TAGS,
      body: ExchangesRequest,
      response: { 200: Type.Object({ data: RecordedTransfers }), 201: Type.Object({ data: RecordedTransfers }) },
    },
    handler: async (request, reply) => {
      const { key, ...input } = request.body
      const keyed = { adminId: request.session.admin.id, key, input: { exchanges: input } }
      const slips = input.slips.map(toSlip)
      const recorded = await recordTransfers(request.community.id, keyed, (tx) =>
        recordExchanges(tx, adminActor(request), request.community.id, slips, readConfirmations(input)),
      )
      return reply.code(recorded.replayed ? 200 : 201).send({ data: recorded })
    },
  })

  api.post('/communities/:slug/adjustments', {
    config: { role: 'manager' },
    schema: {
      summary: "Give hours to a member, or take them, against the community's account",
      tags: TAGS,
      body: AdjustmentRequest,
      response: { 200: Type.Object({ data: RecordedTransfers }), 201: Type.Object({ data: RecordedTransfers }) },
    },
    handler: async (request, reply) => {
      const { key, ...input } = request.body
      const keyed = { adminId: request.session.admin.id, key, input: { adjustment: input } }
      const adjustment = { memberId: input.member_id, centihours: requireCentihours(input.hours), reason: input.reason }
      const recorded = await recordTransfers(request.community.id, keyed, async (tx) => [
        await adjustBalance(tx, adminActor(request), request.community.id, adjustment),
      ])
      return reply.code(recorded.replayed ? 200 : 201).send({ data: recorded })
    },
  })

  api.post('/communities/:slug/transfers/:id/reverse', {
    config: { role: 'manager' },
    schema: {
      summary: 'Reverse a transfer: in full, once',
      tags: TAGS,
      params: TransferParams,
      body: ReversalRequest,
      response: { 201: Type.Object({ data: TransferRecord }) },
    },
    handler: async (request, reply) => {
      const { id: communityId } = request.community
      const { id } = await requireTransfer(communityId, request.params.id)
      await reverseTransfer(sql, adminActor(request), communityId, { transferId: id, reason: request.body.reason })
      return reply.code(201).send({ data: await requireTransfer(communityId, request.params.id) })
    },
  })

  api.post('/communities/:slug/transfers/:id/correct', {
    config: { role: 'manager' },
    schema: {
      summary: 'Take an exchange back and record it as it should have been',
      description: 'Both or neither. Refuses what recording exchanges refuses.',
      tags: TAGS,
      params: TransferParams,
      body: CorrectionRequest,
      response: { 200: Type.Object({ data: RecordedTransfers }), 201: Type.Object({ data: RecordedTransfers }) },
    },
    handler: async (request, reply) => {
      const { id: communityId } = request.community
      const { id: transferId } = await requireTransfer(communityId, request.params.id)
      const { key, ...input } = request.body
      const keyed = { adminId: request.session.admin.id, key, input: { correction: { transferId, ...input } } }
      const correction = { transferId, slip: toSlip(input.slips[0]!, 0), reason: input.reason }
      const recorded = await recordTransfers(communityId, keyed, (tx) =>
        correctExchange(tx, adminActor(request), communityId, correction, readConfirmations(input)),
      )
      return reply.code(recorded.replayed ? 200 : 201).send({ data: recorded })
    },
  })

  async function recordTransfers(
    communityId: number,
    keyed: KeyedRequest,
    record: (tx: Transaction) => Promise<{ id: number }[]>,
  ) {
    const { made, replayed } = await once(sql, communityId, keyed, {
      make: async (tx) => (await record(tx)).map(({ id }) => id),
      idsOf: (ids) => ids,
      find: async (_tx, ids) => ids,
    })
    return { transfer_ids: made, replayed }
  }

  async function requireTransfer(communityId: number, text: string): Promise<TransferRecord> {
    const id = parseId(text)
    const row = id === undefined ? undefined : await findTransferRecord(sql, communityId, id)
    if (!row) throw new NotFound(because('no_such_transfer'))
    return presentTransfer(row)
  }
}

function readConfirmations({ confirm_duplicates, limit_reason }: Confirmations): RecordOptions {
  return { refuseDuplicates: confirm_duplicates !== true, limitReason: limit_reason ?? undefined }
}

function toSlip(slip: SlipForm, n: number): Slip {
  const { giver_id, receiver_id, hours, occurred_on, listing_id, category, note } = slip
  return {
    giverId: giver_id,
    receiverId: receiver_id,
    centihours: requireCentihours(hours, `slips.${n}.hours`),
    ...(occurred_on !== undefined && { occurredOn: occurred_on }),
    ...(listing_id && { listingId: listing_id }),
    ...(category?.trim() && { category: category.trim() }),
    ...(note?.trim() && { note: note.trim() }),
  }
}

function presentTransfer({ amount, reversal, made_by, ...rest }: TransferRow): TransferRecord {
  return {
    ...rest,
    hours: toHours(amount),
    made_by: made_by as TransferRecord['made_by'],
    reversal: reversal && {
      ...reversal,
      created_at: fromJsonTime(reversal.created_at),
      made_by: reversal.made_by as TransferRecord['made_by'],
    },
  }
}
