import type { Actor } from '../audit/record.ts'
import { recordAudits } from '../audit/record-many.ts'
import type { CommunityRow } from '../communities/queries.ts'
import {
  importRows,
  type ImportKind,
  type ImportOptions,
  type ImportSummary,
  type Lines,
  type Wish,
} from '../spreadsheets/import-rows.ts'
import type { Sql, Transaction } from '../../postgres/connect.ts'
import { recordEvents } from '../events/record.ts'
import { isDay, toUtc } from '../../core/times.ts'
import { hideMember, leave, memberSnapshot, returnMember, showMember } from './change-member.ts'
import { memberProblems } from './check-member.ts'
import type { MemberRecord } from './queries.ts'

/** What an export writes is what an import reads. */
export const MEMBER_COLUMNS = ['external_id', 'name', 'email', 'status', 'hidden', 'joined_at'] as const

/** A member is found again by the external id; fields left out, or left empty, stay as they are (the email is cleared). */
export async function importMembers(
  sql: Sql,
  actor: Actor,
  community: CommunityRow,
  file: AsyncIterable<Uint8Array>,
  options?: ImportOptions,
): Promise<ImportSummary> {
  return importRows(sql, actor, community, MEMBERS, file, options)
}

const MEMBERS: ImportKind = {
  noun: 'member',
  table: 'members',
  tables: ['members', 'accounts'],
  columns: MEMBER_COLUMNS,
  requiredColumns: ['external_id', 'name'],
  read: readMember,
  judge: judgeMembers,
  lock: lockChanging,
  add: addMembers,
  async change(tx, actor, communityId, lines) {
    await changeFields(tx, actor, communityId, lines)
    await changeStates(tx, actor, communityId, lines)
  },
}

function readMember(fields: Record<string, string>): { wish: Wish; problems: string[] } {
  const { external_id, name, email, status, hidden, joined_at } = fields
  const wrong = memberProblems({ name: name!, email: email || null, external_id: external_id || null })
  const problems = wrong.map(({ message }) => message)
  const wish: Wish = { name: name! }
  if (email !== undefined) wish.email = email || null
  if (status) {
    if (status !== 'active' && status !== 'inactive') problems.push('The status must be active or inactive.')
    wish.status = status
  }
  if (hidden) {
    const answer = hidden.toLowerCase()
    if (answer !== 'true' && answer !== 'false') problems.push('Hidden must be true or false.')
    wish.hidden = answer === 'true'
  }
  if (joined_at) {
    const time = timeOf(joined_at)
    if (time === undefined) problems.push('The time of joining must be like 2024-05-31 or 2024-05-31T12:00:00Z.')
    else if (Date.parse(time) > Date.now()) problems.push('The time of joining lies in the future.')
    else wish.joined_at = time
  }
  return { wish, problems }
}

/** A mere day stands for its noon in UTC, which is on that day nearly everywhere. */
export function timeOf(text: string): string | undefined {
  return isDay(text) ? `${text}T12:00:00Z` : toUtc(text)
}

async function judgeMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows r set outcome = 'refused', reason = 'This member was erased.'
    from members m
    where r.outcome is null and m.community_id = ${communityId} and m.id = r.id and m.erased_at is not null`
  await tx`
    update import_rows r set changes = j.changes,
      outcome = case when j.changes = '{}' then 'unchanged' else 'changed' end
    from (
      select w.line, array_remove(array[
        case when w.wish ->> 'name' <> m.name then 'name' end,
        case when w.wish ? 'email' and w.wish ->> 'email' is distinct from m.email then 'email' end,
        case when (w.wish ->> 'joined_at')::timestamptz <> m.joined_at then 'joined_at' end,
        case when w.wish ->> 'status' <> m.status then 'status' end,
        case when (w.wish ->> 'hidden')::boolean <> m.hidden then 'hidden' end], null) as changes
      from import_rows w join members m on m.community_id = ${communityId} and m.id = w.id
      where w.outcome is null
    ) j
    where j.line = r.line`
}

/** Wallets first, then members, each in the order of ids, like everything that locks them. */
async function lockChanging(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    select from accounts
    where community_id = ${communityId} and member_id in (
      select id from import_rows where outcome = 'changed' and changes && '{status,hidden}')
    order by id for no key update`
  await tx`
    select from members
    where community_id = ${communityId} and id in (select id from import_rows where outcome = 'changed')
    order by id for no key update`
}

type WrittenMember = Pick<
  MemberRecord,
  'id' | 'name' | 'email' | 'payment_reference' | 'joined_at' | 'updated_at' | 'version' | 'visible'
> & { changes: string[] }

/** As addMember does it: with the wallet, the audit log, and an event if partners can see the member. */
async function addMembers(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const added = await tx<WrittenMember[]>`
    with made as (
      insert into members (community_id, external_id, name, email, status, hidden, joined_at, left_at)
      select ${communityId}, external_id, wish ->> 'name', wish ->> 'email', coalesce(wish ->> 'status', 'active'),
        coalesce((wish ->> 'hidden')::boolean, false), coalesce((wish ->> 'joined_at')::timestamptz, clock_timestamp()),
        case when wish ->> 'status' = 'inactive' then now() end
      from import_rows where outcome = 'added' and line between ${from} and ${to}
      order by line
      returning *
    ), wallets as (
      insert into accounts (community_id, kind, member_id, active, hidden)
      select ${communityId}, 'member', id, status = 'active', hidden from made order by id
    )
    select *, '{}'::text[] as changes from made order by id`
  await tell(tx, actor, communityId, added, 'user.joined', 'member.added')
}

/** As changeMember does it. Who was erased meanwhile stays erased. */
async function changeFields(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const changed = await tx<WrittenMember[]>`
    update members m set name = r.wish ->> 'name',
      email = case when r.wish ? 'email' then r.wish ->> 'email' else m.email end,
      joined_at = coalesce((r.wish ->> 'joined_at')::timestamptz, m.joined_at),
      version = m.version + 1, updated_at = clock_timestamp()
    from import_rows r
    where m.community_id = ${communityId} and m.id = r.id and m.erased_at is null and r.outcome = 'changed'
      and r.line between ${from} and ${to} and r.changes && '{name,email,joined_at}'
      -- The same again, so that these members are looked up and not all are read.
      and m.id = any (array(select id from import_rows where outcome = 'changed' and line between ${from} and ${to}))
    returning m.*, r.changes`
  await tell(tx, actor, communityId, changed, 'user.updated', 'member.changed')
}

async function tell(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  members: WrittenMember[],
  event: 'user.joined' | 'user.updated',
  action: string,
): Promise<void> {
  const entries = members.map(({ id, changes }) => ({
    action,
    subject: { kind: 'member', id },
    detail: changes.length > 0 ? { fields: changes } : {},
  }))
  await recordAudits(tx, communityId, actor, entries)
  const seen = members.filter(({ visible }) => visible)
  await recordEvents(
    tx,
    communityId,
    seen.map((member) => ({ type: event, memberId: member.id, data: memberSnapshot(member) })),
  )
}

/** Leaving, returning, hiding: one by one, because listings, removals and wallets follow. */
async function changeStates(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const rows = await tx<{ id: number; changes: string[]; status: string | null; hidden: boolean | null }[]>`
    select id, changes, wish ->> 'status' as status, (wish ->> 'hidden')::boolean as hidden from import_rows
    where outcome = 'changed' and line between ${from} and ${to} and changes && '{status,hidden}' order by line`
  for (const { id, changes, status, hidden } of rows) {
    if (changes.includes('hidden')) await (hidden ? hideMember : showMember)(tx, actor, communityId, id)
    if (changes.includes('status')) await (status === 'active' ? returnMember : leave)(tx, actor, communityId, id)
  }
}
