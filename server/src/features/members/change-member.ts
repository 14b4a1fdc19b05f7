import { recordAudit, type Actor, type AuditEntry } from '../audit/record.ts'
import { transaction, type Queries, type Transaction } from '../../postgres/connect.ts'
import { violatedConstraint } from '../../postgres/constraint.ts'
import { lockNewMembers } from '../communities/admin-settings-queries.ts'
import type { EventType } from '../events/event-types.ts'
import { recordEvents } from '../events/record.ts'
import { closeListingsOnLeave, reopenListingsOnReturn, updateListingVisibility } from '../listings/follow-member.ts'
import { lockListings } from '../listings/queries.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { deleteRemoval, recordRemoval } from '../removals/queries.ts'
import {
  insertMember,
  isForPartners,
  lockMember,
  PARTNER_NAMES,
  updateMember,
  type MemberChange,
  type MemberRecord,
  type NewMember,
} from './queries.ts'
import { checkMember } from './check-member.ts'
import { listOfficeMembers } from './member-list-queries.ts'
import type { MemberFields } from './fields.ts'

export async function addMember(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: NewMember,
  { refuseDuplicate = false }: { refuseDuplicate?: boolean } = {},
): Promise<MemberRecord> {
  checkMember(input)
  return rejectTakenExternalId(
    transaction(sql, async (tx) => {
      if (refuseDuplicate) await rejectKnownName(tx, communityId, input.name)
      const added = await insertMember(tx, communityId, input)
      await recordChange(tx, actor, communityId, added, 'user.joined', 'member.added')
      return added
    }),
  )
}

export async function changeMember(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
  input: Partial<MemberFields>,
  checkBefore: (before: MemberRecord) => void = () => {},
): Promise<MemberRecord> {
  checkMember(input)
  return rejectTakenExternalId(
    transaction(sql, async (tx) => {
      const before = await requireMember(tx, communityId, id)
      checkBefore(before)
      const changes = Object.fromEntries(
        Object.entries(input).filter(([field, value]) => before[field as keyof MemberRecord] !== value),
      )
      const fields = Object.keys(changes)
      if (fields.length === 0) return before
      const changed = await updateMember(tx, communityId, id, changes)
      const notifyPartners = changed.visible && isForPartners(changes)
      await recordChange(tx, actor, communityId, changed, 'user.updated', 'member.changed', { fields }, notifyPartners)
      return changed
    }),
  )
}

/** Two people may have one name, so somebody has to look, and can say so. */
async function rejectKnownName(tx: Transaction, communityId: number, name: string): Promise<void> {
  // Somebody else may be adding this name.
  await lockNewMembers(tx, communityId)
  const { rows } = await listOfficeMembers(tx, communityId, { limit: 1, after: undefined }, { name })
  if (rows.length === 0) return
  const reason = because(rows.length > 1 ? 'members_name_known' : 'member_name_known')
  throw new Refusal([{ field: 'name', code: 'duplicate', reason }])
}

/** Turns a violated unique constraint on the external id into a message for the user. */
async function rejectTakenExternalId<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (violatedConstraint(error) !== 'members_external_id_key') throw error
    throw new Refusal(because('external_id_taken'), { field: 'external_id', cause: error })
  }
}

/** Hides the member from partners. Hidden members still count in the aggregates. */
export async function hideMember(sql: Queries, actor: Actor, communityId: number, id: number): Promise<MemberRecord> {
  return setState(sql, actor, communityId, id, { hidden: true }, 'user.left', 'member.hidden')
}

export async function showMember(sql: Queries, actor: Actor, communityId: number, id: number): Promise<MemberRecord> {
  return setState(sql, actor, communityId, id, { hidden: false }, 'user.joined', 'member.shown')
}

/** Marks the member as left and closes their listings. leave-with-balance.ts also settles the balance. */
export async function leave(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
  detail: AuditEntry['detail'] = {},
): Promise<MemberRecord> {
  return setState(sql, actor, communityId, id, { status: 'inactive' }, 'user.left', 'member.left', detail)
}

/** Reactivates a member who left, and reopens the listings that leaving closed. */
export async function returnMember(sql: Queries, actor: Actor, communityId: number, id: number): Promise<MemberRecord> {
  return setState(sql, actor, communityId, id, { status: 'active' }, 'user.joined', 'member.returned')
}

async function setState(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
  changes: MemberChange,
  event: EventType,
  action: string,
  detail: AuditEntry['detail'] = {},
): Promise<MemberRecord> {
  return transaction(sql, async (tx) => {
    const before = await requireMember(tx, communityId, id)
    const isUnchanged = Object.entries(changes).every(([field, value]) => before[field as keyof MemberRecord] === value)
    if (isUnchanged) return before
    const after = await updateMember(tx, communityId, id, changes)
    await lockListings(tx, communityId, { user_id: id })
    if (changes.status === 'inactive') await closeListingsOnLeave(tx, communityId, id)
    if (changes.status === 'active') await reopenListingsOnReturn(tx, communityId, after)
    if (changes.hidden !== undefined) await updateListingVisibility(tx, communityId, after)
    // Partners are notified only if what they can see changes.
    if (before.visible && !after.visible) await recordRemoval(tx, communityId, 'user', [id])
    if (!before.visible && after.visible) await deleteRemoval(tx, communityId, 'user', [id])
    await recordChange(tx, actor, communityId, after, event, action, detail, before.visible !== after.visible)
    return after
  })
}

export async function requireMember(tx: Transaction, communityId: number, id: number): Promise<MemberRecord> {
  const member = await lockMember(tx, communityId, id)
  if (!member || member.erased_at !== null) throw new NotFound(because('no_member', { id }))
  return member
}

/** Every change is audited. An event is recorded only if partners may see the change. */
async function recordChange(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  member: MemberRecord,
  event: EventType,
  action: string,
  detail: AuditEntry['detail'] = {},
  notifyPartners = member.visible,
): Promise<void> {
  await recordAudit(tx, communityId, actor, { action, subject: { kind: 'member', id: member.id }, detail })
  if (!notifyPartners) return
  await recordEvents(tx, communityId, [{ type: event, memberId: member.id, data: memberSnapshot(member) }])
}

/** The member's data at the time of the event. Fields are filtered per recipient when the event is sent. */
export function memberSnapshot(member: MemberRecord) {
  const { id, version } = member
  if (!member.visible) return { id, version }
  return { ...Object.fromEntries(PARTNER_NAMES.map((name) => [name, member[name]])), version }
}
