import { recordAudit, type Actor, type AuditEntry } from '../audit/record.ts'
import { transaction, type Queries, type Transaction } from '../../postgres/connect.ts'
import type { EventType } from '../events/event-types.ts'
import { recordEvents } from '../events/record.ts'
import { closeListingsOfLeaver, reopenListingsOfReturner, showListings } from '../listings/follow-member.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { forgetRemoval, recordRemoval } from '../removals/queries.ts'
import {
  insertMember,
  lockMember,
  updateMember,
  type MemberChange,
  type MemberRecord,
  type NewMember,
} from './queries.ts'
import { checkMember } from './check-member.ts'

export async function addMember(
  sql: Queries,
  actor: Actor,
  communityId: number,
  wish: { name: string; email?: string | null; external_id?: string | null },
): Promise<MemberRecord> {
  const member: NewMember = checkMember({ email: null, external_id: null, ...wish })
  return unlessTaken(
    transaction(sql, async (tx) => {
      const added = await insertMember(tx, communityId, member)
      await tell(tx, actor, communityId, added, 'user.joined', 'member.added')
      return added
    }),
  )
}

export async function changeMember(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
  wish: Partial<Pick<MemberRecord, 'name' | 'email' | 'external_id'>>,
): Promise<MemberRecord> {
  const wanted = checkMember(wish)
  return unlessTaken(
    transaction(sql, async (tx) => {
      const before = await requireMember(tx, communityId, id)
      const change = Object.fromEntries(
        Object.entries(wanted).filter(([field, value]) => before[field as keyof MemberRecord] !== value),
      )
      if (Object.keys(change).length === 0) return before
      const changed = await updateMember(tx, communityId, id, change)
      await tell(tx, actor, communityId, changed, 'user.updated', 'member.changed', { fields: Object.keys(change) })
      return changed
    }),
  )
}

const UNIQUE_VIOLATION = '23505'

/** Two members cannot go by one number of the office. */
async function unlessTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const { code, constraint: name } = error as { code?: string; constraint?: string }
    if (code !== UNIQUE_VIOLATION || name !== 'members_external_id_key') throw error
    throw new Refusal('Another member has this external id already.', { field: 'external_id', cause: error })
  }
}

/** As good as absent for partners, but counted in the aggregates. */
export async function hideMember(sql: Queries, actor: Actor, communityId: number, id: number): Promise<MemberRecord> {
  return setState(sql, actor, communityId, id, { hidden: true }, 'user.left', 'member.hidden')
}

export async function showMember(sql: Queries, actor: Actor, communityId: number, id: number): Promise<MemberRecord> {
  return setState(sql, actor, communityId, id, { hidden: false }, 'user.joined', 'member.shown')
}

/** Closes their listings too. What happens to the balance is decided apart: see leave-with-balance.ts. */
export async function leave(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
  detail: AuditEntry['detail'] = {},
): Promise<MemberRecord> {
  return setState(sql, actor, communityId, id, { status: 'inactive' }, 'user.left', 'member.left', detail)
}

/** Reopens the listings that leaving closed. */
export async function returnMember(sql: Queries, actor: Actor, communityId: number, id: number): Promise<MemberRecord> {
  return setState(sql, actor, communityId, id, { status: 'active' }, 'user.joined', 'member.returned')
}

async function setState(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
  wish: MemberChange,
  event: EventType,
  action: string,
  detail: AuditEntry['detail'] = {},
): Promise<MemberRecord> {
  return transaction(sql, async (tx) => {
    const before = await requireMember(tx, communityId, id)
    const isSo = Object.entries(wish).every(([field, value]) => before[field as keyof MemberRecord] === value)
    if (isSo) return before
    const after = await updateMember(tx, communityId, id, wish)
    if (wish.status === 'inactive') await closeListingsOfLeaver(tx, communityId, id)
    if (wish.status === 'active') await reopenListingsOfReturner(tx, communityId, after)
    if (wish.hidden !== undefined) await showListings(tx, communityId, after)
    // Partners are told of what they could see or can see now, never of what stays hidden from them.
    if (before.visible && !after.visible) await recordRemoval(tx, communityId, 'user', [id])
    if (!before.visible && after.visible) await forgetRemoval(tx, communityId, 'user', [id])
    await tell(tx, actor, communityId, after, event, action, detail, before.visible !== after.visible)
    return after
  })
}

export async function requireMember(tx: Transaction, communityId: number, id: number): Promise<MemberRecord> {
  const member = await lockMember(tx, communityId, id)
  if (!member || member.erased_at !== null) throw new NotFound(`There is no member ${id}.`)
  return member
}

/** The audit log always, partners only what concerns them. */
async function tell(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  member: MemberRecord,
  event: EventType,
  action: string,
  detail: AuditEntry['detail'] = {},
  isSeen = member.visible,
): Promise<void> {
  await recordAudit(tx, communityId, actor, { action, subject: { kind: 'member', id: member.id }, detail })
  if (!isSeen) return
  await recordEvents(tx, communityId, [{ type: event, memberId: member.id, data: memberSnapshot(member) }])
}

/** The facts at the time of the event; which of them a recipient gets is decided when it is sent. */
export function memberSnapshot({
  visible,
  ...member
}: Omit<MemberRecord, 'status' | 'hidden' | 'erased_at' | 'external_id'>) {
  const { id, name, email, payment_reference, joined_at, updated_at, version } = member

  if (!visible) return { id, version }
  return { id, name, email, status: 'active', payment_reference, joined_at, updated_at, version }
}
