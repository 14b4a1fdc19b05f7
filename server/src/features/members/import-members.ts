import type { Actor } from '../audit/record.ts'
import { recordAudits } from '../audit/record-many.ts'
import type { Transaction } from '../../postgres/connect.ts'
import { recordEvents } from '../events/record.ts'
import { readCentihours } from '../../core/hours.ts'
import { readWord } from '../spreadsheets/cell-words.ts'
import { createImport, type ImportKind, type RowContext } from '../spreadsheets/import-rows.ts'
import type { Lines, RowInput } from '../spreadsheets/queries.ts'
import { readPastTime } from '../spreadsheets/read-past-time.ts'
import { hideMember, leave, memberSnapshot, returnMember, showMember } from './change-member.ts'
import { memberProblems } from './check-member.ts'
import { readTagField, TAGS_MAX } from './change-tags.ts'
import { CSV_COLUMNS, READ_ONLY_COLUMNS } from './fields.ts'
import { MEMBER_ALIASES } from './column-aliases.ts'
import { recomputeLastActive } from '../wallet/queries.ts'
import { postOpeningBalances } from './post-opening-balances.ts'
import { openingReason } from './opening-reason.ts'
import { rejectOtherOpenings, sumOpenings } from './opening-queries.ts'
import {
  detectMemberChanges,
  insertMembers,
  listStateChanges,
  lockChangedMembers,
  noteKnownMembers,
  rejectErasedMembers,
  TEXT_NAMES,
  updateMembers,
  type WrittenMember,
} from './import-queries.ts'
import { rejectMoreTags, replaceImportedTags, spellImportedTags } from './tag-queries.ts'
import { because, type Reason } from '../../core/reasons.ts'

/**
 * A missing field leaves the value unchanged, and an empty text or list of tags clears it. An opening balance is recorded
 * once: the same one again changes nothing, and another one is rejected.
 */
export const MEMBERS: ImportKind = {
  noun: 'member',
  table: 'members',
  grownTables: ['members', 'accounts'],
  columns: [...CSV_COLUMNS, 'opening_balance'],
  requiredColumns: ['external_id', 'name'],
  ignoredColumns: READ_ONLY_COLUMNS,
  aliases: MEMBER_ALIASES,
  read: readMember,
  async validate(tx, communityId) {
    await rejectErasedMembers(tx, communityId)
    await rejectOtherOpenings(tx, communityId)
    await rejectMoreTags(tx, communityId, TAGS_MAX)
    await spellImportedTags(tx, communityId)
    await detectMemberChanges(tx, communityId)
  },
  lock: lockChangedMembers,
  add: addMembers,
  async change(tx, actor, communityId, lines) {
    await changeFields(tx, actor, communityId, lines)
    await changeStates(tx, actor, communityId, lines)
  },
  noteLookalikes: noteKnownMembers,
  sumOpenings: async (tx, community, fileName) => ({
    ...(await sumOpenings(tx)),
    reason: openingReason(community, fileName),
  }),
  finish: postOpeningBalances,
}

export const importMembers = createImport(MEMBERS)

function readMember(fields: Record<string, string>, context: RowContext): { input: RowInput; problems: Reason[] } {
  const { external_id, name, status, hidden, joined_at, opening_balance } = fields
  const given = TEXT_NAMES.filter((field) => fields[field] !== undefined)
  // Spreadsheets end lines within a cell in their own way.
  const read = (field: string) => fields[field]!.replaceAll('\r\n', '\n') || null
  const texts = { ...Object.fromEntries(given.map((field) => [field, read(field)])), name: name! }
  const problems = memberProblems({ ...texts, external_id: external_id || null }).map(({ reason }) => reason)
  const input: RowInput = texts
  if (status) {
    const word = readWord('memberStatus', status)
    if (word) input.status = word
    else problems.push(because('status_active_inactive'))
  }
  if (hidden) {
    const word = readWord('truth', hidden)
    if (word) input.hidden = word === 'true'
    else problems.push(because('hidden_true_false'))
  }
  if (fields.tags !== undefined) input.tags = readTagField(fields.tags, problems)
  if (joined_at) {
    const { time, day } = readPastTime(joined_at, 'joined_at', context, problems)
    Object.assign(input, { joined_at: time, joined_at_day: day })
  }
  if (opening_balance) {
    const { decimal } = context
    const centihours = readCentihours(opening_balance, decimal)
    if (centihours === undefined) {
      const example = decimal === 'comma' ? '1.234,50' : '1,234.50'
      problems.push(because('opening_form', { example }))
    } else input.opening_centihours = centihours
  }
  return { input, problems }
}

/** The bulk version of addMember: also creates the wallets, audit entries and events. */
async function addMembers(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void> {
  const added = await insertMembers(tx, communityId, lines)
  await replaceImportedTags(tx, communityId, lines)
  await recordChanges(tx, actor, communityId, added, 'user.joined', 'member.added')
}

/** The bulk version of changeMember. Skips members who were erased in the meantime. */
async function changeFields(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void> {
  const changed = await updateMembers(tx, communityId, lines)
  const memberIds = changed.filter(({ changes }) => changes.includes('joined_at')).map(({ id }) => id)
  if (memberIds.length > 0) await recomputeLastActive(tx, communityId, { memberIds })
  await replaceImportedTags(tx, communityId, lines)
  await recordChanges(tx, actor, communityId, changed, 'user.updated', 'member.changed')
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
  const visible = members.filter((member) => member.visible && member.for_partners)
  await recordEvents(
    tx,
    communityId,
    visible.map((member) => ({ type: event, memberId: member.id, data: memberSnapshot(member) })),
  )
}

/** Applies status and visibility one member at a time, because listings, removals and wallets change with them. */
async function changeStates(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void> {
  for (const { id, changes, status, hidden } of await listStateChanges(tx, communityId, lines)) {
    if (changes.includes('hidden')) await (hidden ? hideMember : showMember)(tx, actor, communityId, id)
    if (changes.includes('status')) await (status === 'active' ? returnMember : leave)(tx, actor, communityId, id)
  }
}
