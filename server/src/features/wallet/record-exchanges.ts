import { recordAudits } from '../audit/record-many.ts'
import type { Actor } from '../audit/record.ts'
import { transaction, type Queries, type Transaction } from '../../postgres/connect.ts'
import { toHours } from '../../core/hours.ts'
import { isDay } from '../../core/times.ts'
import { isCleanText } from '../../http/shared/validation.ts'
import { Refusal, type FieldProblem } from '../../core/refusal.ts'
import { findLimits, findListingIds } from './admin-queries.ts'
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
  occurredOn?: string
  note?: string
}

interface Options {
  /** Rejects slips that look as if they were entered twice. */
  refuseDuplicates?: boolean
}

/** What a slip is validated against. */
interface ValidationContext {
  wallets: Map<number, Account>
  listings: Set<number>
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
  { refuseDuplicates = false }: Options = {},
): Promise<PostedTransfer[]> {
  if (slips.length === 0 || slips.length > SLIPS_MAX) throw new Refusal(`Record 1 to ${SLIPS_MAX} exchanges at once.`)
  return transaction(sql, async (tx) => {
    const context = await loadContext(tx, communityId, slips)
    rejectProblems(validateSlips(slips, context))
    const movements = slips.map((slip) => toMovement(slip, context))
    if (refuseDuplicates) rejectProblems(await findDuplicates(tx, communityId, movements, context.today))
    const posted = await postTransfers(tx, communityId, actor, movements)
    await recordAudits(
      tx,
      communityId,
      actor,
      posted.map(({ id }) => ({ action: 'exchange.recorded', subject: { kind: 'transfer', id } })),
    )
    return posted
  })
}

/** Locks the wallets first, so that validation results hold until the transfers are posted. */
async function loadContext(tx: Transaction, communityId: number, slips: Slip[]): Promise<ValidationContext> {
  const memberIds = slips.flatMap(({ giverId, receiverId }) => [giverId, receiverId])
  const accounts = await lockAccounts(tx, communityId, { memberIds })
  const listingIds = slips.flatMap(({ listingId }) => listingId ?? [])
  const { lower_limit_centihours: lowerLimit, today } = await findLimits(tx, communityId)
  return {
    wallets: new Map(accounts.map((account) => [account.member_id!, account])),
    listings: new Set(await findListingIds(tx, communityId, listingIds)),
    lowerLimit,
    today,
  }
}

function toMovement(slip: Slip, { wallets }: ValidationContext): Movement {
  const { listingId, occurredOn, note } = slip
  return {
    kind: 'exchange',
    debit: wallets.get(slip.receiverId)!,
    credit: wallets.get(slip.giverId)!,
    amount: slip.centihours,
    ...(listingId !== undefined && { listingId }),
    ...(occurredOn !== undefined && { occurredOn }),
    ...(note && { note }),
  }
}

function rejectProblems(found: SlipProblem[]): void {
  if (found.length === 0) return
  const problems = found.map(({ slip, field, code, text }): FieldProblem => ({
    field: ['slips', slip, ...(field === undefined ? [] : [field])].join('.'),
    message: text[0]!.toUpperCase() + text.slice(1),
    ...(code !== undefined && { code }),
  }))
  throw new Refusal(found.map(({ slip, text }) => `Slip ${slip + 1}: ${text}`).join('\n'), { problems })
}

function validateSlips(slips: Slip[], context: ValidationContext): SlipProblem[] {
  const { wallets, lowerLimit } = context
  const projected = new Map([...wallets.values()].map(({ id, balance }) => [id, balance]))
  return slips.flatMap((slip, n) => {
    const problems = validateSlip(slip, context).map(([field, text]): SlipProblem => ({ slip: n, field, text }))
    const [receiver, giver] = [wallets.get(slip.receiverId), wallets.get(slip.giverId)]
    if (!receiver || !giver) return problems
    const balance = projected.get(receiver.id)! - slip.centihours
    projected.set(receiver.id, balance)
    projected.set(giver.id, projected.get(giver.id)! + slip.centihours)
    if (balance >= lowerLimit) return problems
    const text = `member ${slip.receiverId} would fall to ${toHours(balance)} h, below ${toHours(lowerLimit)} h.`
    return [...problems, { slip: n, field: 'hours', text }]
  })
}

function validateSlip(slip: Slip, { wallets, listings, today }: ValidationContext): [field: string, text: string][] {
  const { giverId, receiverId, centihours, listingId, occurredOn, note = '' } = slip
  const problems: [string, string][] = []
  if (!wallets.get(giverId)?.active) problems.push(['giver_id', `there is no active member ${giverId}.`])
  if (!wallets.get(receiverId)?.active) problems.push(['receiver_id', `there is no active member ${receiverId}.`])
  if (giverId === receiverId) problems.push(['receiver_id', 'giver and receiver are the same member.'])
  if (!Number.isSafeInteger(centihours) || centihours <= 0)
    problems.push(['hours', 'the hours must be greater than 0.'])
  if (listingId !== undefined && !listings.has(listingId)) {
    problems.push(['listing_id', `there is no listing ${listingId}.`])
  }
  if (occurredOn !== undefined && !isDay(occurredOn)) problems.push(['occurred_on', `${occurredOn} is not a day.`])
  else if (occurredOn !== undefined && occurredOn > today) {
    problems.push(['occurred_on', `${occurredOn} is yet to come.`])
  }
  if ([...note].length > NOTE_LENGTH_MAX) {
    problems.push(['note', `the note is longer than ${NOTE_LENGTH_MAX} characters.`])
  }
  if (!isCleanText(note)) problems.push(['note', 'the note holds characters that cannot be written.'])
  return problems
}
