import { recordAudit, type Actor } from '../features/audit/record.ts'
import { insertPartnerDays } from '../features/communities/admin-settings-queries.ts'
import type { CommunityRow } from '../features/communities/queries.ts'
import type { Progress } from '../core/progress.ts'
import type { Transaction } from '../postgres/connect.ts'
import { allowNestedLoops } from '../postgres/transaction-settings.ts'
import { copyRows, type CopyValue } from './copy-rows.ts'
import {
  findPartnerIds,
  insertCategories,
  insertTransferCategories,
  optimizeBulkLoad,
  reserveIds,
  type FirstIds,
} from './queries.ts'
import { planTown, type Town } from './town.ts'
import type { TownTransfer } from './town-transfers.ts'

/** From this size on, filling is slow enough to need optimization. */
export const LARGE_FROM_MEMBERS = 20_000
/** Limits the number of notes; nobody reads more. */
const NOTES_MAX = 20_000

export interface Filling {
  community: CommunityRow
  /** The partner that made the credits. */
  partnerId: number
  /** The administrator who recorded the exchanges. The system if absent. */
  adminId?: number | undefined
  members: number
  seed: number
  now: Date
  onProgress?: ((progress: Progress) => void) | undefined
}

/** Fills an empty community with a generated town and its history. No events are recorded. */
export async function fillCommunity(tx: Transaction, actor: Actor, filling: Filling): Promise<Town> {
  const { community, partnerId, members, seed, now, onProgress } = filling
  const town = planTown({ members, seed, now, timeZone: community.time_zone })
  const transfers = town.exchanges + town.credits + town.reversals
  if (members >= LARGE_FROM_MEMBERS) await optimizeBulkLoad(tx)
  const first = await reserveIds(
    tx,
    { communityId: community.id, partnerId },
    { members, accounts: members, listings: town.services + town.requests, transfers, credits: town.credits },
  )
  // Members, accounts, listings, transfers.
  const total = members * 2 + town.services + town.requests + transfers
  let done = 0
  const copy: Copy = (table, columns, rows) =>
    copyRows(tx, table, `community_id, ${columns}`, prependCommunity(community.id, rows), (count) => {
      done += count
      onProgress?.({ done: Math.min(done, total), total, label: table })
    })

  await copyMembers(copy, town, first)
  await insertCategories(tx, community.id, town.categories)
  await copyListings(copy, town, first)
  await copyTransfers(tx, copy, town, first, filling)
  // The tables have no statistics yet: looking up each row would read all listings for each transfer.
  await allowNestedLoops(tx, false)
  await insertTransferCategories(tx, community.id)
  await allowNestedLoops(tx, true)
  await insertPartnerDays(tx, community.id)
  await recordAudit(tx, community.id, actor, {
    action: 'community.filled',
    subject: { kind: 'community', id: community.id },
    detail: { members, seed },
  })
  return town
}

type Copy = (table: string, columns: string, rows: Iterable<CopyValue[]>) => Promise<void>

function* prependCommunity(communityId: number, rows: Iterable<CopyValue[]>): Generator<CopyValue[]> {
  for (const row of rows) yield [communityId, ...row]
}

async function copyMembers(copy: Copy, town: Town, first: FirstIds): Promise<void> {
  await copy(
    'members',
    'id, external_id, name, email, joined_at, recorded_at, updated_at',
    (function* () {
      let id = first.members
      for (const { externalId, name, email, joinedAt } of town.memberRows()) {
        yield [id++, externalId, name, email, joinedAt, joinedAt, joinedAt]
      }
    })(),
  )
  const { balances, changedAt, activeOn } = computeBalances(town)
  await copy(
    'accounts',
    'id, kind, member_id, balance, updated_at, last_active_on',
    (function* () {
      let n = 0
      for (const { joinedAt } of town.memberRows()) {
        const at = changedAt[n] ? new Date(changedAt[n]!) : joinedAt
        const day = new Date(Math.max(joinedAt.getTime(), activeOn[n]!)).toISOString().slice(0, 10)
        yield [first.accounts + n, 'member', first.members + n, balances[n]!, at, day]
        n++
      }
    })(),
  )
}

/** Accounts are inserted before the transfers, so their final balances are computed first. */
function computeBalances(town: Town): { balances: Int32Array; changedAt: Float64Array; activeOn: Float64Array } {
  const balances = new Int32Array(town.members)
  const changedAt = new Float64Array(town.members)
  const activeOn = new Float64Array(town.members)
  for (const { kind, debit, credit, debitAfter, creditAfter, day, at } of town.transferRows()) {
    const exchangedMs = kind === 'exchange' ? Date.parse(day) : 0
    for (const member of [debit, credit]) {
      if (member !== undefined) activeOn[member] = Math.max(activeOn[member]!, exchangedMs)
    }
    if (debit !== undefined) [balances[debit], changedAt[debit]] = [debitAfter!, at]
    if (credit !== undefined) [balances[credit], changedAt[credit]] = [creditAfter!, at]
  }
  return { balances, changedAt, activeOn }
}

async function copyListings(copy: Copy, town: Town, first: FirstIds): Promise<void> {
  await copy(
    'listings',
    'id, member_id, type, title, description, category, centihours, visible, created_at, updated_at',
    (function* () {
      let id = first.listings
      for (const { member, type, title, description, category, centihours, createdAt } of town.listingRows()) {
        const owner = first.members + member
        yield [id++, owner, type, title, description, category, centihours, true, createdAt, createdAt]
      }
    })(),
  )
}

/** A credit or its reversal, with the id of its transfer. */
type PartnerTransfer = TownTransfer & { id: number }

async function copyTransfers(
  tx: Transaction,
  copy: Copy,
  town: Town,
  first: FirstIds,
  { community, partnerId, adminId }: Filling,
): Promise<void> {
  const ids = await findPartnerIds(tx, community.id, partnerId)
  const accountOf = (member: number | undefined) => (member === undefined ? ids.account_id : first.accounts + member)
  // Fits into memory: limited by what a partner may credit in a year.
  const byPartner: PartnerTransfer[] = []
  const notes: [id: number, note: string][] = []
  await copy(
    'transfers',
    'id, kind, debit_account_id, credit_account_id, amount, debit_balance_after, credit_balance_after, reverses_id, ' +
      'listing_id, made_by_kind, made_by_id, occurred_on, created_at',
    (function* () {
      let id = first.transfers
      for (const transfer of town.transferRows()) {
        const { kind, debit, credit, amount, debitAfter, creditAfter, listing, day, at, note } = transfer
        if (kind !== 'exchange') byPartner.push({ ...transfer, id })
        if (note && notes.length < NOTES_MAX) notes.push([id, note])
        const madeBy =
          kind === 'exchange' ? [adminId === undefined ? 'system' : 'admin', adminId] : ['client', ids.client_id]
        const reversesId = kind === 'reversal' ? id - 1 : null
        const listingId = listing === undefined ? null : first.listings + listing
        const accounts = [accountOf(debit), accountOf(credit)]
        const balances = [debitAfter, creditAfter]
        yield [id, kind, ...accounts, amount, ...balances, reversesId, listingId, ...madeBy, day, new Date(at)]
        id++
      }
    })(),
  )
  await copy('transfer_notes', 'transfer_id, note', notes)
  await copyCredits(copy, first, byPartner, { partnerId, clientId: ids.client_id })
}

async function copyCredits(
  copy: Copy,
  first: FirstIds,
  byPartner: PartnerTransfer[],
  { partnerId, clientId }: { partnerId: number; clientId: number },
): Promise<void> {
  const credits = byPartner.filter(({ kind }) => kind === 'credit').map((credit, n) => ({ ...credit, n }))
  await copy(
    'credits',
    'partner_id, reference, id, client_id, transfer_id, member_id, amount, settled_on, created_at',
    credits.map(({ n, id, credit, amount, day, at }) => {
      const [creditId, memberId] = [first.credits + n, first.members + credit!]
      return [partnerId, referenceOf(n, day), creditId, clientId, id, memberId, amount, day, new Date(at)]
    }),
  )
  const byTransfer = new Map(credits.map((credit) => [credit.id, credit]))
  await copy(
    'credit_reversals',
    'partner_id, reversal_reference, credit_id, transfer_id, reason, created_at',
    byPartner
      .filter(({ kind }) => kind === 'reversal')
      .map(({ id, day, at }) => {
        const { n } = byTransfer.get(id - 1)!
        const reference = `${referenceOf(n, day)}-R`
        return [partnerId, reference, first.credits + n, id, "Returned by the payer's bank", new Date(at)]
      }),
  )
}

/** For example SEPA-20240531-000017. */
function referenceOf(n: number, day: string): string {
  return `SEPA-${day.replaceAll('-', '')}-${`${n + 1}`.padStart(6, '0')}`
}
