import { recordAudits } from '../audit/record-many.ts'
import type { Actor } from '../audit/record.ts'
import { transaction, type Queries, type Transaction } from '../../postgres/connect.ts'
import { toHours } from '../../core/hours.ts'
import { isDay } from '../../core/times.ts'
import { isCleanText } from '../../core/texts.ts'
import { because, type Reason } from '../../core/reasons.ts'
import { Refusal, type FieldProblem } from '../../core/refusal.ts'
import { findCategoryIds, findLimits, findListingCategories, findMemberNames } from './admin-queries.ts'
import { checkReason } from './check-reason.ts'
import { findDuplicates, type SlipProblem } from './find-duplicates.ts'
import { lockAccounts, postTransfers, type Account, type Movement, type PostedTransfer } from './post-transfers.ts'

export const SLIPS_MAX = 1000
const NOTE_LENGTH_MAX = 500

/** One exchange as written on a slip. The giver gave the time, and the receiver pays for it. */
export interface Slip {
  giverId: number
  receiverId: number
  centihours: number
  listingId?: number
  /** The name of a category, for a slip without a listing. */
  category?: string
  occurredOn?: string
  note?: string
}

export interface RecordOptions {
  /** Rejects slips that look as if they were entered twice. */
  refuseDuplicates?: boolean
  /** Allows members to fall below the lower limit. */
  limitReason?: string | undefined
}

/** What a slip is validated against. */
interface ValidationContext {
  wallets: Map<number, Account>
  /** The category of each listing that exists. */
  listings: Map<number, number>
  categories: Map<string, number>
  lowerLimit: number
  /** In the community's time zone. */
  today: string
}

/** Records all slips or none. Reports every problem with the number of the slip. */
export async function recordExchanges(
  sql: Queries,
  actor: Actor,
  communityId: number,
  slips: Slip[],
  { refuseDuplicates = false, limitReason }: RecordOptions = {},
): Promise<PostedTransfer[]> {
  if (slips.length === 0 || slips.length > SLIPS_MAX) throw new Refusal(because('slips_count', { max: SLIPS_MAX }))
  const reason = limitReason?.trim() ? checkReason(limitReason, 'limit_reason') : undefined
  return transaction(sql, async (tx) => {
    const context = await loadContext(tx, communityId, slips)
    const { problems, overdrafts } = validateSlips(slips, context)
    const tooLow = reason === undefined ? await describeOverdrafts(tx, communityId, overdrafts, context) : []
    rejectProblems([...problems, ...tooLow].toSorted((one, other) => one.slip - other.slip))
    const allowed = new Set(overdrafts.map(({ slip }) => slip))
    const movements = slips.map((slip, n) => ({
      ...toMovement(slip, context),
      ...(reason !== undefined && allowed.has(n) && { limitReason: reason }),
    }))
    if (refuseDuplicates) rejectProblems(await findDuplicates(tx, communityId, movements, context.today))
    const posted = await postTransfers(tx, communityId, actor, movements)
    await recordAudits(
      tx,
      communityId,
      actor,
      posted.map(({ id }, n) => ({
        action: 'exchange.recorded',
        subject: { kind: 'transfer', id },
        ...(allowed.has(n) && { detail: { below_limit: true } }),
      })),
    )
    return posted
  })
}

/** Locks the wallets first, so that validation results hold until the transfers are posted. */
async function loadContext(tx: Transaction, communityId: number, slips: Slip[]): Promise<ValidationContext> {
  const memberIds = slips.flatMap(({ giverId, receiverId }) => [giverId, receiverId])
  const accounts = await lockAccounts(tx, communityId, { memberIds })
  const listingIds = slips.flatMap(({ listingId }) => listingId ?? [])
  const categories = slips.flatMap(({ category }) => category ?? [])
  const { lower_limit_centihours: lowerLimit, today } = await findLimits(tx, communityId)
  return {
    wallets: new Map(accounts.map((account) => [account.member_id!, account])),
    listings: await findListingCategories(tx, communityId, listingIds),
    categories: await findCategoryIds(tx, communityId, categories),
    lowerLimit,
    today,
  }
}

function toMovement(slip: Slip, { wallets, listings, categories, today }: ValidationContext): Movement {
  const { listingId, category, occurredOn = today, note } = slip
  const categoryId = listingId === undefined ? categories.get(category ?? '') : listings.get(listingId)
  return {
    kind: 'exchange',
    debit: wallets.get(slip.receiverId)!,
    credit: wallets.get(slip.giverId)!,
    amount: slip.centihours,
    ...(listingId !== undefined && { listingId }),
    occurredOn,
    ...(categoryId !== undefined && { categoryId }),
    ...(note && { note }),
  }
}

function rejectProblems(found: SlipProblem[]): void {
  if (found.length === 0) return
  const problems = found.map(({ slip, field, code, reason }): FieldProblem => ({
    field: ['slips', slip, ...(field === undefined ? [] : [field])].join('.'),
    reason,
    ...(code !== undefined && { code }),
  }))
  const lines = found.map(({ slip, reason }) => `Slip ${slip + 1}: ${reason.message}`)
  throw new Refusal(problems, { message: lines.join('\n') })
}

/** A slip after which its receiver is below the lower limit. */
interface Overdraft {
  slip: number
  memberId: number
  balance: number
}

function validateSlips(slips: Slip[], context: ValidationContext) {
  const { wallets, lowerLimit } = context
  const projected = new Map([...wallets.values()].map(({ id, balance }) => [id, balance]))
  const overdrafts: Overdraft[] = []
  const problems = slips.flatMap((slip, n) => {
    const found = validateSlip(slip, context).map(([field, reason]): SlipProblem => ({ slip: n, field, reason }))
    const [receiver, giver] = [wallets.get(slip.receiverId), wallets.get(slip.giverId)]
    if (!receiver || !giver) return found
    const balance = projected.get(receiver.id)! - slip.centihours
    projected.set(receiver.id, balance)
    projected.set(giver.id, projected.get(giver.id)! + slip.centihours)
    if (balance < lowerLimit) overdrafts.push({ slip: n, memberId: slip.receiverId, balance })
    return found
  })
  return { problems, overdrafts }
}

async function describeOverdrafts(
  tx: Transaction,
  communityId: number,
  overdrafts: Overdraft[],
  { lowerLimit }: ValidationContext,
): Promise<SlipProblem[]> {
  const names = await findMemberNames(
    tx,
    communityId,
    overdrafts.map(({ memberId }) => memberId),
  )
  return overdrafts.map(({ slip, memberId, balance }) => {
    const values = { name: names.get(memberId)!, balance: toHours(balance), limit: toHours(lowerLimit) }
    return { slip, field: 'hours', code: 'below_limit', reason: because('below_limit', values) }
  })
}

function validateSlip(slip: Slip, context: ValidationContext): [field: string, reason: Reason][] {
  const { wallets, listings, categories, today } = context
  const { giverId, receiverId, centihours, listingId, category, occurredOn, note = '' } = slip
  const problems: [string, Reason][] = []
  if (!wallets.get(giverId)?.active) problems.push(['giver_id', because('no_active_member', { id: giverId })])
  if (!wallets.get(receiverId)?.active) {
    problems.push(['receiver_id', because('no_active_member', { id: receiverId })])
  }
  if (giverId === receiverId) problems.push(['receiver_id', because('same_member')])
  if (!Number.isSafeInteger(centihours) || centihours <= 0) problems.push(['hours', because('hours_positive')])
  if (listingId !== undefined && !listings.has(listingId)) {
    problems.push(['listing_id', because('no_listing', { id: listingId })])
  }
  if (category !== undefined && !categories.has(category)) {
    problems.push(['category', because('no_category', { name: category })])
  }
  if (occurredOn !== undefined && !isDay(occurredOn)) {
    problems.push(['occurred_on', because('not_a_day', { day: occurredOn })])
  } else if (occurredOn !== undefined && occurredOn > today) {
    problems.push(['occurred_on', because('day_to_come', { day: occurredOn })])
  }
  if ([...note].length > NOTE_LENGTH_MAX) {
    problems.push(['note', because('note_too_long', { max: NOTE_LENGTH_MAX })])
  }
  if (!isCleanText(note)) problems.push(['note', because('note_characters')])
  return problems
}
