import { recordAudit, type Actor } from '../audit/record.ts'
import { sortByReferences, listTables, type Table } from '../../backup/catalogue.ts'
import { holdOffRequests } from '../../http/console/request-queries.ts'
import { announceAccessChange } from '../../postgres/channel.ts'
import { transaction, type Queries, type Sql } from '../../postgres/connect.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import {
  deleteCommunity,
  deleteRows,
  findCommunityById,
  lockCommunity,
  lockRows,
  lockWallets,
  type CommunityOrigin,
} from './test-queries.ts'

/** Deletes a test community from every table. Other communities cannot be removed, because their ledger is kept. */
export async function removeTestCommunity(
  sql: Sql,
  actor: Actor,
  communityId: number,
  confirmedSlug: string,
): Promise<void> {
  await transaction(sql, async (tx) => {
    // Check before locking anything, so that a community in use is not blocked.
    requireRemovable(await findCommunityById(tx, communityId), confirmedSlug)
    await holdOffRequests(tx, communityId)
    await lockWallets(tx, communityId)
    const tables = await listCommunityTables(tx)
    await lockReferencedRows(tx, communityId, tables)
    // After its rows: whoever changes one of them goes on to write an audit entry, which refers to the community.
    const community = requireRemovable(await lockCommunity(tx, communityId), confirmedSlug)
    for (const { name } of tables.toReversed()) await deleteRows(tx, name, communityId)
    await deleteCommunity(tx, communityId)
    await auditRemoval(tx, actor, communityId, community)
    await announceAccessChange(tx, { communityId })
  })
}

function requireRemovable(community: CommunityOrigin | undefined, confirmedSlug: string): CommunityOrigin {
  if (!community) throw new NotFound(because('no_such_community'))
  if (!community.test) throw new Refusal(because('not_a_test_community'))
  if (confirmedSlug !== community.slug)
    throw new Refusal(because('confirm_slug', { slug: community.slug }), { field: 'confirm' })
  return community
}

/** Each after those that it refers to. */
async function listCommunityTables(tx: Queries): Promise<Table[]> {
  return sortByReferences((await listTables(tx)).filter(({ columns }) => columns.includes('community_id')))
}

/** Calls in flight, such as credits, wait for these locks or are waited for, so nothing is inserted in between. */
async function lockReferencedRows(tx: Queries, communityId: number, tables: Table[]): Promise<void> {
  for (const { name, columns } of tables.filter((table) => isReferenced(table, tables))) {
    await lockRows(tx, name, communityId, columns.includes('id') ? 'id' : 'community_id')
  }
}

function isReferenced({ name }: Table, tables: Table[]): boolean {
  return tables.some(({ references }) => references.includes(name))
}

/** Audited in the community that it was created from, because its own audit log is deleted. */
async function auditRemoval(
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
