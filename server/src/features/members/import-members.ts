import type { Actor } from '../audit/record.ts'
import { recordAudits } from '../audit/record-many.ts'
import type { CommunityRow } from '../communities/queries.ts'
import {
  importRows,
  type ImportKind,
  type ImportOptions,
  type ImportSummary,
  type Lines,
  type RowInput,
} from '../spreadsheets/import-rows.ts'
import { commaSeparated, identifier, type Fragment, type Sql, type Transaction } from '../../postgres/connect.ts'
import { recordEvents } from '../events/record.ts'
import { isDay, toUtc } from '../../core/times.ts'
import { hideMember, leave, memberSnapshot, returnMember, showMember } from './change-member.ts'
import { memberProblems } from './check-member.ts'
import { CSV_COLUMNS, FIELD_NAMES, type FieldName } from './fields.ts'
import type { MemberRecord } from './queries.ts'

/** Fields that an import writes; members are matched by external id. */
const TEXT_NAMES = FIELD_NAMES.filter((field) => field !== 'external_id')

/** A missing or empty column leaves the value unchanged, except that an empty text such as the email is cleared. */
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
  grownTables: ['members', 'accounts'],
  columns: CSV_COLUMNS,
  requiredColumns: ['external_id', 'name'],
  read: readMember,
  validate: validateMembers,
  lock: lockChangedMembers,
  add: addMembers,
  async change(tx, actor, communityId, lines) {
    await changeFields(tx, actor, communityId, lines)
    await changeStates(tx, actor, communityId, lines)
  },
}

function readMember(fields: Record<string, string>): { input: RowInput; problems: string[] } {
  const { external_id, name, status, hidden, joined_at } = fields
  const given = TEXT_NAMES.filter((field) => fields[field] !== undefined)
  const texts = { ...Object.fromEntries(given.map((field) => [field, fields[field] || null])), name: name! }
  const problems = memberProblems({ ...texts, external_id: external_id || null }).map(({ message }) => message)
  const input: RowInput = texts
  if (status) {
    if (status !== 'active' && status !== 'inactive') problems.push('The status must be active or inactive.')
    input.status = status
  }
  if (hidden) {
    const flag = hidden.toLowerCase()
    if (flag !== 'true' && flag !== 'false') problems.push('Hidden must be true or false.')
    input.hidden = flag === 'true'
  }
  if (joined_at) {
    const time = parseTime(joined_at)
    if (time === undefined) problems.push('The time of joining must be like 2024-05-31 or 2024-05-31T12:00:00Z.')
    else if (Date.parse(time) > Date.now()) problems.push('The time of joining lies in the future.')
    else input.joined_at = time
  }
  return { input, problems }
}

/** A date without a time means noon UTC, which falls on that date in nearly every time zone. */
export function parseTime(text: string): string | undefined {
  return isDay(text) ? `${text}T12:00:00Z` : toUtc(text)
}

async function validateMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows r set outcome = 'refused', reason = 'This member was erased.'
    from members m
    where r.outcome is null and m.community_id = ${communityId} and m.id = r.id and m.erased_at is not null`
  await tx`
    update import_rows r set changes = j.changes,
      outcome = case when j.changes = '{}' then 'unchanged' else 'changed' end
    from (
      select i.line, array_remove(array[
        ${commaSeparated(TEXT_NAMES.map((name) => changedText(tx, name)))},
        case when (i.input ->> 'joined_at')::timestamptz <> m.joined_at then 'joined_at' end,
        case when i.input ->> 'status' <> m.status then 'status' end,
        case when (i.input ->> 'hidden')::boolean <> m.hidden then 'hidden' end], null) as changes
      from import_rows i join members m on m.community_id = ${communityId} and m.id = i.id
      where i.outcome is null
    ) j
    where j.line = r.line`
}

function changedText(tx: Transaction, name: FieldName): Fragment {
  return tx`
    case when i.input ? ${name}::text and i.input ->> ${name}::text is distinct from m.${identifier(name)}
      then ${name}::text end`
}

/** Locks wallets, then members, each in id order. Every other writer takes these locks in the same order. */
async function lockChangedMembers(tx: Transaction, communityId: number): Promise<void> {
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

type WrittenMember = MemberRecord & { changes: string[] }

/** The bulk version of addMember: also creates the wallets, audit entries and events. */
async function addMembers(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const added = await tx<WrittenMember[]>`
    with made as (
      insert into members (community_id, external_id, ${commaSeparated(TEXT_NAMES.map(identifier))}, status, hidden,
        joined_at, left_at)
      select ${communityId}, external_id, ${commaSeparated(TEXT_NAMES.map((name) => tx`input ->> ${name}::text`))},
        coalesce(input ->> 'status', 'active'),
        coalesce((input ->> 'hidden')::boolean, false), coalesce((input ->> 'joined_at')::timestamptz, clock_timestamp()),
        case when input ->> 'status' = 'inactive' then now() end
      from import_rows where outcome = 'added' and line between ${from} and ${to}
      order by line
      returning *
    ), wallets as (
      insert into accounts (community_id, kind, member_id, active, hidden)
      select ${communityId}, 'member', id, status = 'active', hidden from made order by id
    )
    select *, '{}'::text[] as changes from made order by id`
  await recordChanges(tx, actor, communityId, added, 'user.joined', 'member.added')
}

/** The bulk version of changeMember. Skips members who were erased in the meantime. */
async function changeFields(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const changed = await tx<WrittenMember[]>`
    update members m set ${commaSeparated(TEXT_NAMES.map((name) => newText(tx, name)))},
      joined_at = coalesce((r.input ->> 'joined_at')::timestamptz, m.joined_at),
      version = m.version + 1, updated_at = clock_timestamp()
    from import_rows r
    where m.community_id = ${communityId} and m.id = r.id and m.erased_at is null and r.outcome = 'changed'
      and r.line between ${from} and ${to} and r.changes && ${[...TEXT_NAMES, 'joined_at']}::text[]
      -- Redundant, but makes the planner look up these members by index instead of scanning all of them.
      and m.id = any (array(select id from import_rows where outcome = 'changed' and line between ${from} and ${to}))
    returning m.*, r.changes`
  await recordChanges(tx, actor, communityId, changed, 'user.updated', 'member.changed')
}

function newText(tx: Transaction, name: FieldName): Fragment {
  const column = identifier(name)
  return tx`${column} = case when r.input ? ${name}::text then r.input ->> ${name}::text else m.${column} end`
}

async function recordChanges(
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
  const visible = members.filter((member) => member.visible)
  await recordEvents(
    tx,
    communityId,
    visible.map((member) => ({ type: event, memberId: member.id, data: memberSnapshot(member) })),
  )
}

/** Applies status and visibility one member at a time, because listings, removals and wallets change with them. */
async function changeStates(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const rows = await tx<{ id: number; changes: string[]; status: string | null; hidden: boolean | null }[]>`
    select id, changes, input ->> 'status' as status, (input ->> 'hidden')::boolean as hidden from import_rows
    where outcome = 'changed' and line between ${from} and ${to} and changes && '{status,hidden}' order by line`
  for (const { id, changes, status, hidden } of rows) {
    if (changes.includes('hidden')) await (hidden ? hideMember : showMember)(tx, actor, communityId, id)
    if (changes.includes('status')) await (status === 'active' ? returnMember : leave)(tx, actor, communityId, id)
  }
}
