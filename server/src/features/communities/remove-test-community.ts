import { recordAudit, type Actor } from '../audit/record.ts'
import { sortByReferences, listTables, type Table } from '../../backup/catalogue.ts'
import { announceAccessChange } from '../../postgres/channel.ts'
import { identifier, type Queries, type Sql, transaction } from '../../postgres/connect.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { findCommunityById, lockCommunity, type KnownCommunity } from './test-queries.ts'

/** All that is in it, from every table, at once. Only a test community: the books of a real one are kept for good. */
export async function removeTestCommunity(
  sql: Sql,
  actor: Actor,
  communityId: number,
  confirmedSlug: string,
): Promise<void> {
  await transaction(sql, async (tx) => {
    // Looked at before anything is locked: a real one is in use.
    requireRemovable(await findCommunityById(tx, communityId), confirmedSlug)
    await lockWallets(tx, communityId)
    const community = requireRemovable(await lockCommunity(tx, communityId), confirmedSlug)
    await deleteRows(tx, communityId)
    await tx`delete from communities where id = ${communityId}`
    await recordRemoval(tx, actor, communityId, community)
    await announceAccessChange(tx, { communityId })
  })
}

function requireRemovable(community: KnownCommunity | undefined, confirmedSlug: string): KnownCommunity {
  if (!community) throw new NotFound('There is no such community.')
  if (!community.test) throw new Refusal('Only a test community can be removed.')
  if (confirmedSlug !== community.slug) throw new Refusal(`Type ${community.slug} to confirm.`, { field: 'confirm' })
  return community
}

async function deleteRows(tx: Queries, communityId: number): Promise<void> {
  const tables = (await listTables(tx)).filter(({ columns }) => columns.includes('community_id'))
  const ordered = sortByReferences(tables)
  // Calls that are under way, a credit or a token, wait for these rows or are waited for: nothing slips in between.
  for (const table of ordered.filter((one) => isReferredTo(one, tables))) await lockRows(tx, table, communityId)
  for (const { name } of ordered.toReversed()) {
    await tx`delete from ${identifier(name)} where community_id = ${communityId}`
  }
}

function isReferredTo({ name }: Table, tables: Table[]): boolean {
  return tables.some(({ references }) => references.includes(name))
}

/**
 * Before the community and all else, and members' wallets before those of the community: a credit that holds a member's
 * goes on to write what refers to the others. In the order of ids, as whatever moves hours.
 */
async function lockWallets(tx: Queries, communityId: number): Promise<void> {
  await tx`select from accounts where community_id = ${communityId} order by member_id is null, id for update`
}

async function lockRows(tx: Queries, { name, columns }: Table, communityId: number): Promise<void> {
  const order = columns.includes('id') ? 'id' : 'community_id'
  await tx`select from ${identifier(name)} where community_id = ${communityId} order by ${identifier(order)} for update`
}

/** Its own audit log is gone with it; the community it was made from keeps the record. */
async function recordRemoval(
  tx: Queries,
  actor: Actor,
  communityId: number,
  { slug, name, test_of }: { slug: string; name: string; test_of: number | null },
): Promise<void> {
  if (test_of === null || !(await findCommunityById(tx, test_of))) return
  await recordAudit(tx, test_of, actor, {
    action: 'test_community.removed',
    subject: { kind: 'community', id: communityId },
    detail: { slug, name },
  })
}
