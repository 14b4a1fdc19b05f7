import { coalesce, type CoalesceLimits } from '../../postgres/coalesce.ts'
import type { Sql } from '../../postgres/connect.ts'
import type { Caller } from '../../http/partner/access.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { toCentihours, toHours } from '../../core/hours.ts'
import { tracing } from '../../core/tracing.ts'
import { invalidField } from '../../http/shared/validation.ts'
import {
  insertCredits,
  startPartnerDays,
  type CreditFields,
  type CreditItem,
  type CreditRow,
} from './insert-credits.ts'
import type { Credit, CreditRequest } from './schema.ts'

const LIMITS: CoalesceLimits = { batchMax: 128, inFlightMax: 2, waitingMax: 10_000 }
/** Each round resolves at least the first remaining item, and usually all of them. */
const ROUNDS_MAX = LIMITS.batchMax + 3
/** Serialization failure and deadlock: the whole statement was undone and can be repeated. */
const RACED = new Set(['40001', '40P01'])
const FOREIGN_KEY_VIOLATION = '23503'
/** Banks send these if the payer gave no reference. Two payments would look like one. */
const PLACEHOLDERS = new Set(['NOTPROVIDED', 'NONREF'])

/** Credits of one turn that are given the same object `group` are executed in the order of the calls. */
export type CreditMember = (
  caller: Caller,
  request: CreditRequest,
  group?: object,
) => Promise<{ credit: Credit; replayed: boolean }>

export function createCreditBatcher(sql: Sql): CreditMember {
  const insert = coalesce((communityId: number, items: CreditItem[]) => creditAll(sql, communityId, items), LIMITS)

  return async (caller, request, group) => {
    const row = await insert(caller.communityId, toItem(caller, request), group)
    if (row.outcome === 'created') tracing?.remember(traceKey(caller.communityId, caller.partnerId, row.id))
    if (row.outcome === 'created' || row.outcome === 'replayed') {
      return { credit: presentCredit(row, caller), replayed: row.outcome === 'replayed' }
    }
    if (row.outcome === 'no_such_member') throw new ApiError('user_not_found')
    if (row.outcome === 'conflict') throw new ApiError('reference_conflict', { data: presentCredit(row, caller) })
    if (row.outcome === 'over_limit') {
      throw invalidField('hours', 'out_of_range', `must be at most ${toHours(row.limit_centihours)}`)
    }
    if (row.outcome === 'not_settled')
      throw invalidField('settled_on', 'out_of_range', 'must be at most a day ahead of today in the community')
    throw new ApiError('daily_limit_reached')
  }
}

/** By which a delivery finds the trace of its credit. */
export function traceKey(communityId: number, partnerId: number, transactionId: number): string {
  return `${communityId}/${partnerId}/${transactionId}`
}

/** Inserts the items, and retries those without a final outcome. */
async function creditAll(sql: Sql, communityId: number, items: CreditItem[]): Promise<CreditRow[]> {
  const results: CreditRow[] = []
  let remaining = items.map((item, index) => ({ item, index }))
  for (let round = 0; remaining.length > 0; round++) {
    if (round >= ROUNDS_MAX) throw new Error(`${remaining.length} credits are unsettled after ${round} rounds`)
    const pending = remaining.map(({ item }) => item)
    const rows = await insertUnlessRaced(sql, communityId, pending)
    if (!rows) continue
    const itemsWithoutDay = pending.filter((_, n) => rows[n]!.outcome === 'no_day')
    const partnerIds = itemsWithoutDay.map(({ partnerId }) => partnerId)
    if (partnerIds.length > 0) await startDays(sql, communityId, partnerIds, round)
    remaining = remaining.filter(({ index }, n) => {
      const row = rows[n]!
      const isPending = row.outcome === 'no_day' || row.outcome === 'again'
      if (!isPending) results[index] = row
      return isPending
    })
  }
  return results
}

/** Returns undefined, having changed nothing, if another transaction was in the way. */
async function insertUnlessRaced(sql: Sql, communityId: number, items: CreditItem[]): Promise<CreditRow[] | undefined> {
  try {
    return await insertCredits(sql, communityId, items)
  } catch (error) {
    if (RACED.has(codeOf(error))) return undefined
    throw error
  }
}

/**
 * A partner who has just been removed with its test community is let pass once: the next round finds no member. Otherwise
 * the item is at fault, and `coalesce` settles the others without it.
 */
async function startDays(sql: Sql, communityId: number, partnerIds: number[], round: number): Promise<void> {
  try {
    await startPartnerDays(sql, communityId, partnerIds)
  } catch (error) {
    if (round > 0 || codeOf(error) !== FOREIGN_KEY_VIOLATION) throw error
  }
}

const codeOf = (error: unknown) => (error as { code?: string }).code ?? ''

function toItem(caller: Caller, { user_id, hours, reference, note, settled_on }: CreditRequest): CreditItem {
  const amount = toCentihours(hours)
  if (amount === undefined) throw invalidField('hours', 'too_precise', 'must have at most two decimals')
  if (PLACEHOLDERS.has(reference.trim().toUpperCase())) {
    throw invalidField('reference', 'placeholder', "is a bank's placeholder, not a reference")
  }
  return {
    partnerId: caller.partnerId,
    clientId: caller.clientId,
    // No member has an id beyond the safe integers.
    memberId: Number.isSafeInteger(user_id) ? user_id : 0,
    amount,
    reference,
    note: note ?? null,
    settledOn: settled_on ?? null,
  }
}

/** Without `wallet.read` there is no balance: crediting and reversing 0.01 h would otherwise read anyone's. */
export function presentCredit(row: CreditFields, { scopes }: Pick<Caller, 'scopes'>): Credit {
  return {
    transaction_id: row.id,
    user_id: row.member_id,
    hours: toHours(row.amount),
    reference: row.reference,
    note: row.note,
    settled_on: row.settled_on,
    status: row.reversed_at === null ? 'completed' : 'reversed',
    reversed_at: row.reversed_at,
    ...(scopes.includes('wallet.read') && { balance_hours: toHours(row.balance_after) }),
    created_at: row.created_at,
  }
}
