import { identifier, type Queries, type Transaction } from '../postgres/connect.ts'

/** Advisory lock: only one process at a time reserves id ranges from the sequences. */
const DEMO_LOCK = 4_711_004
const GIN_PENDING_LIST_LIMIT = '64MB'
/** Ids that count within the community or the partner, and those from sequences. */
const COUNTED = ['members', 'listings', 'credits'] as const
const SEQUENCED = ['accounts', 'transfers'] as const
export type FirstIds = Record<(typeof COUNTED)[number] | (typeof SEQUENCED)[number], number>

/** Until commit, nobody else can create or change a community. */
export async function lockCommunities(tx: Transaction): Promise<void> {
  await tx`lock table communities in share row exclusive mode`
}

/** Settings for millions of rows, which end with the transaction. */
export async function optimizeBulkLoad(tx: Transaction): Promise<void> {
  // The full-text index is updated in a few large batches.
  await tx`select set_config('gin_pending_list_limit', ${GIN_PENDING_LIST_LIMIT}, true)`
  // Checking foreign keys takes half of the time, and smaller towns from the same generator are checked. Only a superuser
  // may skip the checks, which the embedded database allows.
  const [row] = await tx<[{ is_superuser: boolean }]>`select current_setting('is_superuser') = 'on' as is_superuser`
  if (row.is_superuser) await tx`set local session_replication_role = replica`
}

/** Reserves a range of ids of each table, so that they are known before the rows are inserted. */
export async function reserveIds(
  tx: Transaction,
  { communityId, partnerId }: { communityId: number; partnerId: number },
  counts: FirstIds,
): Promise<FirstIds> {
  await tx`select pg_advisory_xact_lock(${DEMO_LOCK})`
  const first = {} as FirstIds
  for (const table of COUNTED) {
    const owner = table === 'credits' ? partnerId : 0
    const [row] = await tx<[{ first: number }]>`
      select take_ids(${communityId}, ${table}, ${owner}, ${counts[table]}) as first`
    first[table] = row.first
  }
  for (const table of SEQUENCED) {
    const sequence = `${table}_id_seq`
    const [row] = await tx<[{ first: number }]>`select nextval(${sequence}::regclass) as first`
    first[table] = row.first
    // Never move the sequence back: others may have used it for other communities.
    await tx`
      select setval(${sequence}::regclass, greatest(${row.first + Math.max(counts[table], 1) - 1}, last_value))
      from ${identifier(sequence)}`
  }
  return first
}

export async function insertCategories(tx: Transaction, communityId: number, names: string[]): Promise<void> {
  await tx`
    insert into categories (community_id, name)
    select ${communityId}, name from unnest(${names}::text[]) with ordinality as i(name, n) order by n
    on conflict (community_id, name) do nothing`
}

/** Gives each exchange the category of its listing. */
export async function insertTransferCategories(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    insert into transfer_categories (community_id, transfer_id, category_id)
    select ${communityId}, t.id, c.id from transfers t
    join listings l on l.community_id = ${communityId} and l.id = t.listing_id
    join categories c on c.community_id = ${communityId} and c.name = l.category
    where t.community_id = ${communityId} and t.kind = 'exchange'`
}

/** Finds the account and the first client of a partner. */
export async function findPartnerIds(
  tx: Transaction,
  communityId: number,
  partnerId: number,
): Promise<{ account_id: number; client_id: number }> {
  const [row] = await tx<[{ account_id: number; client_id: number }]>`
    select a.id as account_id, c.id as client_id
    from accounts a join clients c on c.community_id = ${communityId} and c.partner_id = a.partner_id
    where a.community_id = ${communityId} and a.partner_id = ${partnerId}
    order by c.id limit 1`
  return row
}

/** Without it, the planner has no statistics for the copied rows until autovacuum runs. */
export async function vacuumFilledTables(sql: Queries): Promise<void> {
  await sql`vacuum (analyze) members, accounts, listings, transfers, transfer_notes, transfer_categories, credits`
}
