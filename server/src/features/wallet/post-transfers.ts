import type { Actor } from '../audit/record.ts'
import type { Transaction } from '../../postgres/connect.ts'
import type { EventType } from '../events/event-types.ts'
import { recordEvents, type NewEvent } from '../events/record.ts'
import { findErased } from './queries.ts'

export interface Account {
  id: number
  kind: 'member' | 'partner' | 'community'
  member_id: number | null
  balance: number
  /** Counts the changes of this wallet. */
  version: number
  active: boolean
  hidden: boolean
}

export interface Movement {
  kind: 'exchange' | 'adjustment' | 'reversal'
  debit: Account
  credit: Account
  amount: number
  reversesId?: number
  listingId?: number
  /** The day it happened. Defaults to today in the community's time zone. */
  occurredOn?: string
  note?: string
  categoryId?: number
  /** Why the debit account may fall below the lower limit. */
  limitReason?: string
  /** Recorded instead of wallet.balance_changed. */
  event?: { type: EventType; partnerId: number; data: Record<string, string | number> }
}

/**
 * Locks wallets in id order, like every statement that moves hours, and then other accounts, like the removal of a test
 * community: any other order would deadlock.
 */
export async function lockAccounts(
  tx: Transaction,
  communityId: number,
  filter: { memberIds?: number[]; partnerIds?: number[]; ids?: number[] },
): Promise<Account[]> {
  const { memberIds = [], partnerIds = [], ids = [] } = filter
  return tx<Account[]>`
    select id, kind, member_id, balance, version, active, hidden from accounts
    where community_id = ${communityId} and (member_id = any (${memberIds}::int8[])
      or partner_id = any (${partnerIds}::int8[]) or id = any (${ids}::int8[]))
    order by member_id is null, id for no key update`
}

export async function findCommunityAccount(tx: Transaction, communityId: number): Promise<Account> {
  const [row] = await tx<[Account]>`
    select id, kind, member_id, balance, version, active, hidden from accounts
    where community_id = ${communityId} and kind = 'community'`
  return row
}

export interface PostedTransfer {
  id: number
  created_at: string
}

/** Moves hours between locked accounts in the given order, and updates `balance` and `version` of the passed accounts. */
export async function postTransfers(
  tx: Transaction,
  communityId: number,
  actor: Actor,
  movements: Movement[],
): Promise<PostedTransfer[]> {
  const changes = movements.map(({ debit, credit, amount }) => ({
    debit: changeWallet(debit, -amount),
    credit: changeWallet(credit, amount),
  }))
  const posted = await insertTransfers(tx, communityId, actor, movements, changes)
  await updateWallets(tx, communityId, movements)
  await insertNotes(tx, communityId, movements, posted)
  await insertCategories(tx, communityId, movements, posted)
  await recordEvents(
    tx,
    communityId,
    movements.flatMap((movement, n) => buildEvents(movement, changes[n]!, posted[n]!)),
  )
  return posted
}

/** A wallet after a movement. */
type WalletState = Pick<Account, 'balance' | 'version'>

interface Changes {
  debit: WalletState | null
  credit: WalletState | null
}

/** Only member accounts have a running balance and a version. */
function changeWallet(account: Account, amount: number): WalletState | null {
  if (account.kind !== 'member') return null
  account.balance += amount
  account.version += 1
  return { balance: account.balance, version: account.version }
}

async function insertTransfers(
  tx: Transaction,
  communityId: number,
  actor: Actor,
  movements: Movement[],
  changes: Changes[],
): Promise<PostedTransfer[]> {
  const column = <T>(pick: (movement: Movement) => T | undefined) => movements.map((movement) => pick(movement) ?? null)
  return tx<PostedTransfer[]>`
    with held as materialized (
      -- Before the transfers get their ids: the chain of the ledger waits for this transaction (decision 36).
      select stamp_change(${communityId})
    ), posted as (
      insert into transfers (community_id, kind, debit_account_id, credit_account_id, amount, debit_balance_after,
        credit_balance_after, reverses_id, listing_id, made_by_kind, made_by_id, occurred_on)
      select ${communityId}, i.kind, i.debit_id, i.credit_id, i.amount, i.debit_after, i.credit_after, i.reverses_id,
        i.listing_id, ${actor.kind}, ${actor.id ?? null}, coalesce(i.occurred_on, (now() at time zone m.time_zone)::date)
      from unnest(${column((movement) => movement.kind)}::text[], ${column((movement) => movement.debit.id)}::int8[],
        ${column((movement) => movement.credit.id)}::int8[], ${column((movement) => movement.amount)}::int8[],
        ${changes.map(({ debit }) => debit?.balance ?? null)}::int8[],
        ${changes.map(({ credit }) => credit?.balance ?? null)}::int8[],
        ${column((movement) => movement.reversesId)}::int8[], ${column((movement) => movement.listingId)}::int8[],
        ${column((movement) => movement.occurredOn)}::date[]
      ) with ordinality as i(kind, debit_id, credit_id, amount, debit_after, credit_after, reverses_id, listing_id, occurred_on, n)
      join communities m on m.id = ${communityId} cross join held
      order by i.n
      returning id, created_at
    )
    select id, created_at from posted order by id`
}

async function updateWallets(tx: Transaction, communityId: number, movements: Movement[]): Promise<void> {
  const accounts = new Set(movements.flatMap(({ debit, credit }) => [debit, credit]))
  const wallets = [...accounts].filter(({ kind }) => kind === 'member')
  await tx`
    -- A transaction that began earlier may change the wallet later.
    update accounts a set balance = i.balance, version = i.version, updated_at = greatest(a.updated_at, now()),
      last_active_on = greatest(a.last_active_on, i.last_active_on)
    from unnest(${wallets.map(({ id }) => id)}::int8[], ${wallets.map(({ balance }) => balance)}::int8[],
      ${wallets.map(({ version }) => version)}::int8[], ${wallets.map((wallet) => lastExchange(wallet, movements))}::date[]
    ) as i(id, balance, version, last_active_on)
    where a.community_id = ${communityId} and a.id = i.id`
}

/** Only exchanges make a member active: see migration 0041. */
function lastExchange(wallet: Account, movements: Movement[]): string | null {
  const days = movements
    .filter(({ kind, debit, credit }) => kind === 'exchange' && (debit === wallet || credit === wallet))
    .flatMap(({ occurredOn }) => occurredOn ?? [])
  return days.toSorted().at(-1) ?? null
}

async function insertNotes(
  tx: Transaction,
  communityId: number,
  movements: Movement[],
  posted: PostedTransfer[],
): Promise<void> {
  const erased = await findErased(tx, communityId, formerMembers(movements))
  const noted = movements.flatMap(({ debit, credit, note = null, limitReason = null }, n) => {
    // Nothing would erase the text again.
    const isAboutErased = erased.has(debit.member_id) || erased.has(credit.member_id)
    return (note || limitReason) && !isAboutErased ? [{ id: posted[n]!.id, note, limitReason }] : []
  })
  if (noted.length === 0) return
  await tx`
    insert into transfer_notes (community_id, transfer_id, note, limit_reason)
    select ${communityId}, i.id, i.note, i.limit_reason
    from unnest(${noted.map(({ id }) => id)}::int8[], ${noted.map(({ note }) => note)}::text[],
      ${noted.map(({ limitReason }) => limitReason)}::text[]) as i(id, note, limit_reason)`
}

/** Erased members have left. */
function formerMembers(movements: Movement[]): number[] {
  const accounts = movements.flatMap(({ debit, credit }) => [debit, credit])
  return accounts.flatMap(({ member_id, active }) => (member_id !== null && !active ? [member_id] : []))
}

async function insertCategories(
  tx: Transaction,
  communityId: number,
  movements: Movement[],
  posted: PostedTransfer[],
): Promise<void> {
  const sorted = movements.flatMap(({ categoryId }, n) =>
    categoryId === undefined ? [] : [{ id: posted[n]!.id, categoryId }],
  )
  if (sorted.length === 0) return
  await tx`
    insert into transfer_categories (community_id, transfer_id, category_id)
    select ${communityId}, i.id, i.category_id
    from unnest(${sorted.map(({ id }) => id)}::int8[], ${sorted.map(({ categoryId }) => categoryId)}::int8[])
      as i(id, category_id)`
}

/** Builds one event per member, without counterparty or listing. */
function buildEvents({ debit, credit, event }: Movement, changes: Changes, { id }: PostedTransfer): NewEvent[] {
  const sides = [
    { account: debit, state: changes.debit },
    { account: credit, state: changes.credit },
  ]
  return sides.flatMap(({ account, state }): NewEvent[] => {
    if (account.member_id === null || state === null) return []
    const data = { user_id: account.member_id, balance_centihours: state.balance, version: state.version }
    const subject = { memberId: account.member_id, transferId: id }
    if (event) return [{ ...subject, type: event.type, partnerId: event.partnerId, data: { ...event.data, ...data } }]
    // Partners cannot see this member.
    if (!account.active || account.hidden) return []
    return [{ ...subject, type: 'wallet.balance_changed', data }]
  })
}
