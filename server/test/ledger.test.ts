import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { addMember, leave, returnMember } from '../src/features/members/change-member.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { startBank, TESTER } from './bank.ts'

const MEMBERS = 5
const member = fc.nat(MEMBERS - 1)
const amount = fc.integer({ min: 1, max: 600 })

const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('credit' as const), to: member, amount, reference: fc.nat(12) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reverse-credit' as const), reference: fc.nat(12), under: fc.nat(12) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('exchange' as const), from: member, to: member, amount }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('adjustment' as const),
      to: member,
      amount: fc.integer({ min: -500, max: 500 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reversal' as const), of: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), who: member }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('return' as const), who: member }) },
)

test('after random concurrent operations, the books verify and match a model in memory', async () => {
  const bank = await startBank()
  const token = await bank.token()
  await bank.sql`update partners set rate_limit_per_minute = 1000000`
  const { sql, communityId } = bank
  const references = { used: 0 }

  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 60 }), async (operations) => {
      references.used += 1
      const ids: number[] = []
      for (let n = 0; n < MEMBERS; n++)
        ids.push((await addMember(sql, TESTER, communityId, { name: `Member ${n}` })).id)
      /** What the answers said: only that counts. */
      const told = new Map(ids.map((id) => [id, 0]))
      const move = (id: number, centihours: number) => told.set(id, told.get(id)! + centihours)
      const credits = new Map<string, { to: number; amount: number }>()
      const transfers: { id: number; undo: () => void }[] = []
      const name = (reference: number) => `${references.used}-${reference}`

      async function perform(op: (typeof operations)[number]): Promise<void> {
        if (op.kind === 'credit') {
          const [to, reference] = [ids[op.to]!, name(op.reference)]
          const body = { user_id: to, hours: op.amount / 100, reference }
          const answer = await bank.call('/wallet/credit', { token, body })
          expect([200, 201, 404, 409]).toContain(answer.status)
          if (answer.status === 201) {
            move(to, op.amount)
            credits.set(reference, { to, amount: op.amount })
          }
        } else if (op.kind === 'reverse-credit') {
          const body = { reference: name(op.reference), reversal_reference: name(op.under) }
          const answer = await bank.call('/wallet/credits/reverse', { token, body })
          expect([200, 201, 404, 409]).toContain(answer.status)
          if (answer.status === 201) move(answer.body.data.credit.user_id, -answer.body.data.credit.hours * 100)
        } else if (op.kind === 'exchange') {
          const [giverId, receiverId] = [ids[op.to]!, ids[op.from]!]
          const [posted] = await recordExchanges(sql, TESTER, communityId, [
            { giverId, receiverId, centihours: op.amount },
          ])
          move(giverId, op.amount)
          move(receiverId, -op.amount)
          const undo = () => (move(giverId, -op.amount), move(receiverId, op.amount))
          transfers.push({ id: posted!.id, undo })
        } else if (op.kind === 'adjustment') {
          const input = { memberId: ids[op.to]!, centihours: op.amount, reason: 'test' }
          const { id } = await adjustBalance(sql, TESTER, communityId, input)
          move(input.memberId, op.amount)
          transfers.push({ id, undo: () => move(input.memberId, -op.amount) })
        } else if (op.kind === 'reversal') {
          const transfer = transfers[op.of]
          if (!transfer) return
          await reverseTransfer(sql, TESTER, communityId, { transferId: transfer.id, reason: 'test' })
          transfer.undo()
        } else await (op.kind === 'leave' ? leave : returnMember)(sql, TESTER, communityId, ids[op.who]!)
      }

      const outcomes = await Promise.allSettled(operations.map(perform))
      for (const outcome of outcomes) {
        // Refused by a rule is fine; anything else (a deadlock, a broken constraint) is not.
        if (outcome.status === 'rejected') expect(outcome.reason.constructor.name).toBe('Refusal')
      }
      const rows = await sql<{ member_id: number; balance: number }[]>`
        select member_id, balance from accounts where community_id = ${communityId} and member_id = any (${ids}::int8[])`
      expect(new Map(rows.map((row) => [row.member_id, row.balance]))).toEqual(
        new Map([...told].map(([id, balance]) => [id, Math.round(balance)])),
      )
      const overdrawn = await sql`
        select id from transfers where kind = 'exchange' and debit_balance_after < -1000`
      expect(overdrawn).toHaveLength(0)
      expect((await verifyLedger(sql, communityId)).differences).toEqual([])
    }),
    { numRuns: 12, endOnFailure: true },
  )
})
