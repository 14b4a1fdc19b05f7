import { recordAudits } from '../audit/record-many.ts'
import type { Actor } from '../audit/record.ts'
import type { CommunityRow } from '../communities/queries.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Transaction } from '../../postgres/connect.ts'
import type { Lines } from '../spreadsheets/queries.ts'
import { checkReason } from '../wallet/check-reason.ts'
import { findCommunityAccount, lockAccounts, postTransfers } from '../wallet/post-transfers.ts'
import { listOpenings, recordOpenings } from './opening-queries.ts'
import { openingReason } from './opening-reason.ts'

/** The bulk version of adjustBalance: one adjustment for each member, against the community's account. */
export async function postOpeningBalances(
  tx: Transaction,
  actor: Actor,
  { id: communityId, language }: CommunityRow,
  lines: Lines,
  fileName?: string,
): Promise<void> {
  const openings = await listOpenings(tx, communityId, lines)
  if (openings.length === 0) return
  const note = checkReason(openingReason({ language }, fileName))
  const wallets = await lockAccounts(tx, communityId, { memberIds: openings.map(({ member_id }) => member_id) })
  const walletOf = new Map(wallets.map((wallet) => [wallet.member_id, wallet]))
  const account = await findCommunityAccount(tx, communityId)
  const posted = await postTransfers(
    tx,
    communityId,
    actor,
    openings.map(({ member_id, centihours }) => {
      const wallet = walletOf.get(member_id)!
      const [debit, credit] = centihours > 0 ? [account, wallet] : [wallet, account]
      return { kind: 'adjustment', debit, credit, amount: Math.abs(centihours), note }
    }),
  )
  const recorded = await recordOpenings(
    tx,
    communityId,
    posted.map(({ id }, n) => ({ memberId: openings[n]!.member_id, transferId: id })),
  )
  if (recorded < posted.length) {
    throw new Refusal(because('opening_concurrent'))
  }
  await recordAudits(
    tx,
    communityId,
    actor,
    posted.map(({ id }, n) => ({
      action: 'balance.adjusted',
      subject: { kind: 'transfer', id },
      detail: { member_id: openings[n]!.member_id, centihours: openings[n]!.centihours },
    })),
  )
}
