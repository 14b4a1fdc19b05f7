import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries, type Transaction } from '../db/connect.ts'
import { toHours } from '../http/hours.ts'
import { isDay } from '../http/times.ts'
import { Refusal } from '../refusal.ts'
import { lockAccounts, postTransfers, type Account, type Movement, type PostedTransfer } from './post-transfers.ts'

const SLIPS_MAX = 1000
const NOTE_LENGTH_MAX = 500

/** One exchange as the office has it on a slip: who gave the time, who received it and pays. */
export interface Slip {
  giverId: number
  receiverId: number
  centihours: number
  listingId?: number
  occurredOn?: string
  note?: string
}

/** All of them or none; every problem is named, with the slip's number. */
export async function recordExchanges(
  sql: Queries,
  actor: Actor,
  communityId: number,
  slips: Slip[],
): Promise<PostedTransfer[]> {
  if (slips.length === 0 || slips.length > SLIPS_MAX) throw new Refusal(`Record 1 to ${SLIPS_MAX} exchanges at once.`)
  return transaction(sql, async (tx) => {
    const memberIds = slips.flatMap(({ giverId, receiverId }) => [giverId, receiverId])
    const wallets = new Map((await lockAccounts(tx, communityId, { memberIds })).map((a) => [a.member_id!, a]))
    const lowerLimit = await findLowerLimit(tx, communityId)
    const listings = await findListingIds(
      tx,
      communityId,
      slips.flatMap(({ listingId }) => listingId ?? []),
    )
    const projected = new Map([...wallets.values()].map(({ id, balance }) => [id, balance]))
    const problems: string[] = []
    const movements = slips.map((slip, n): Movement => {
      const [receiver, giver] = [wallets.get(slip.receiverId), wallets.get(slip.giverId)]
      for (const problem of slipProblems(slip, giver, receiver, listings)) problems.push(`Slip ${n + 1}: ${problem}`)
      if (receiver && giver) {
        const rest = projected.get(receiver.id)! - slip.centihours
        if (rest < lowerLimit) {
          problems.push(
            `Slip ${n + 1}: member ${slip.receiverId} would fall to ${toHours(rest)} h, below ${toHours(lowerLimit)} h.`,
          )
        }
        projected.set(receiver.id, rest)
        projected.set(giver.id, projected.get(giver.id)! + slip.centihours)
      }
      const { listingId, occurredOn, note } = slip
      return {
        kind: 'exchange',
        debit: receiver!,
        credit: giver!,
        amount: slip.centihours,
        ...(listingId !== undefined && { listingId }),
        ...(occurredOn !== undefined && { occurredOn }),
        ...(note && { note }),
      }
    })
    if (problems.length > 0) throw new Refusal(problems.join('\n'))
    const posted = await postTransfers(tx, communityId, actor, movements)
    for (const { id } of posted) {
      await recordAudit(tx, communityId, actor, { action: 'exchange.recorded', subject: { kind: 'transfer', id } })
    }
    return posted
  })
}

function slipProblems(
  slip: Slip,
  giver: Account | undefined,
  receiver: Account | undefined,
  listings: Set<number>,
): string[] {
  const problems: string[] = []
  if (!giver?.active) problems.push(`there is no active member ${slip.giverId}.`)
  if (!receiver?.active) problems.push(`there is no active member ${slip.receiverId}.`)
  if (slip.giverId === slip.receiverId) problems.push('giver and receiver are the same member.')
  if (!Number.isSafeInteger(slip.centihours) || slip.centihours <= 0) problems.push('the hours must be greater than 0.')
  if (slip.listingId !== undefined && !listings.has(slip.listingId))
    problems.push(`there is no listing ${slip.listingId}.`)
  if (slip.occurredOn !== undefined && !isDay(slip.occurredOn)) problems.push(`${slip.occurredOn} is not a day.`)
  if ([...(slip.note ?? '')].length > NOTE_LENGTH_MAX)
    problems.push(`the note is longer than ${NOTE_LENGTH_MAX} characters.`)
  return problems
}

async function findLowerLimit(tx: Transaction, communityId: number): Promise<number> {
  const [row] = await tx<[{ lower_limit_centihours: number }]>`
    select lower_limit_centihours from communities where id = ${communityId}`
  return row.lower_limit_centihours
}

async function findListingIds(tx: Transaction, communityId: number, ids: number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const rows = await tx<{ id: number }[]>`
    select id from listings where community_id = ${communityId} and id = any (${ids}::int8[])`
  return new Set(rows.map(({ id }) => id))
}
