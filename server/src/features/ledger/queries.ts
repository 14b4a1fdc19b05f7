import { identifier, type Queries, type Query, type Transaction } from '../../postgres/connect.ts'
import { FIRST_HASH, type ChainedTransfer } from './hash-transfer.ts'

/** The end of a community's chain. */
export interface ChainHead {
  /** How many transfers are chained. */
  position: number
  /** The last one, or 0. */
  transfer_id: number
  /** SHA-256 in hexadecimal. */
  hash: string
  chained_at: string
}

const headColumns = (sql: Queries) => sql`h.position, h.transfer_id, encode(h.hash, 'hex') as hash, h.chained_at`

export async function findHead(sql: Queries, communityId: number): Promise<ChainHead | undefined> {
  const [row] = await sql<ChainHead[]>`
    select ${headColumns(sql)} from ledger_heads h where h.community_id = ${communityId}`
  return row
}

/** Does nothing for a community that has one, or that was removed. */
export async function ensureHead(sql: Queries, communityId: number): Promise<void> {
  await sql`
    insert into ledger_heads (community_id, position, transfer_id, hash)
    select id, 0, 0, decode(${FIRST_HASH}, 'hex') from communities where id = ${communityId}
    on conflict (community_id) do nothing`
}

/** Without `wait`, returns undefined if another node adds links. */
export async function lockHead(
  tx: Transaction,
  communityId: number,
  { wait }: { wait: boolean },
): Promise<ChainHead | undefined> {
  const [row] = await tx<ChainHead[]>`
    select ${headColumns(tx)} from ledger_heads h where h.community_id = ${communityId}
    for update ${wait ? tx`` : tx`skip locked`}`
  return row
}

export interface LastTransfer {
  id: number
  /** Read after the transfer was seen. */
  seen_at: string
}

export async function findLastTransfer(sql: Queries, communityId: number): Promise<LastTransfer | undefined> {
  const [row] = await sql<LastTransfer[]>`
    select id, clock_timestamp() as seen_at from transfers
    where community_id = ${communityId} order by id desc limit 1`
  return row
}

/** A subquery, because a join might read all accounts of the community for a few transfers. */
const ownerOf = (sql: Queries, communityId: number, side: 'debit' | 'credit') => sql`(
  select coalesce('member ' || a.member_id, 'partner ' || a.partner_id, a.kind) from accounts a
  where a.community_id = ${communityId} and a.id = t.${identifier(`${side}_account_id`)})`

/** The smallest, because somebody who inserts a second credit for a transfer must not make the query fail. */
const referenceOf = (sql: Queries, communityId: number) => sql`(
  select min(k.reference) from credits k where k.community_id = ${communityId} and k.transfer_id = t.id)`

const reversalReferenceOf = (sql: Queries, communityId: number) => sql`(
  select min((
    select min(r.reversal_reference) from credit_reversals r
    where r.community_id = ${communityId} and r.partner_id = k.partner_id and r.credit_id = k.id))
  from credits k where k.community_id = ${communityId} and k.transfer_id = t.reverses_id)`

const transferColumns = (sql: Queries, communityId: number) => sql`
  t.id, t.kind, t.debit_account_id, ${ownerOf(sql, communityId, 'debit')} as debit_owner, t.credit_account_id,
  ${ownerOf(sql, communityId, 'credit')} as credit_owner, t.amount, t.debit_balance_after, t.credit_balance_after,
  t.reverses_id, t.listing_id, t.made_by_kind, t.made_by_id, t.occurred_on, t.created_at,
  ${referenceOf(sql, communityId)} as reference, ${reversalReferenceOf(sql, communityId)} as reversal_reference`

export async function readTransfers(
  tx: Transaction,
  communityId: number,
  { after, until, limit }: { after: number; until: number; limit: number },
): Promise<ChainedTransfer[]> {
  return tx<ChainedTransfer[]>`
    select ${transferColumns(tx, communityId)} from transfers t
    where t.community_id = ${communityId} and t.id > ${after} and t.id <= ${until}
    order by t.id limit ${limit}`
}

export interface Link {
  transfer_id: number
  position: number
  hash: string
}

/** Adds links to a chain whose head is locked. */
export async function appendLinks(tx: Transaction, communityId: number, links: Link[]): Promise<void> {
  const last = links.at(-1)!
  await tx`
    insert into ledger_links (community_id, transfer_id, position, hash)
    select ${communityId}, i.transfer_id, i.position, decode(i.hash, 'hex')
    from unnest(${links.map((link) => link.transfer_id)}::int8[], ${links.map((link) => link.position)}::int8[],
      ${links.map((link) => link.hash)}::text[]) as i(transfer_id, position, hash)`
  await tx`
    update ledger_heads set position = ${last.position}, transfer_id = ${last.transfer_id},
      hash = decode(${last.hash}, 'hex'), chained_at = now()
    where community_id = ${communityId}`
}

/** A link with its transfer, which may be gone. */
export type LinkedTransfer = Link & ({ [Field in keyof ChainedTransfer]: null } | ChainedTransfer)

/** The chain of a community, for a cursor. */
export function readChain(tx: Transaction, communityId: number): Query<LinkedTransfer[]> {
  return tx<LinkedTransfer[]>`
    select l.transfer_id, l.position, encode(l.hash, 'hex') as hash, ${transferColumns(tx, communityId)}
    from ledger_links l
    left join transfers t on t.community_id = ${communityId} and t.id = l.transfer_id
    where l.community_id = ${communityId}
    order by l.transfer_id`
}

export interface InsertedTransfer {
  id: number
  /** The last position before it. */
  position: number
  found: number
}

/** Lists transfers without a link, up to one that has been chained. `found` is how many there are. */
export async function listInserted(
  tx: Transaction,
  communityId: number,
  { until, limit }: { until: number; limit: number },
): Promise<InsertedTransfer[]> {
  return tx<InsertedTransfer[]>`
    select t.id, count(*) over () as found, coalesce((
        select l.position from ledger_links l
        where l.community_id = ${communityId} and l.transfer_id < t.id order by l.transfer_id desc limit 1
      ), 0) as position
    from transfers t
    where t.community_id = ${communityId} and t.id <= ${until} and not exists (
      select 1 from ledger_links l where l.community_id = ${communityId} and l.transfer_id = t.id)
    order by t.id limit ${limit}`
}

/**
 * For how long the oldest transfer after the end of the chain has waited while nothing was chained, in seconds; 0 if none
 * waits. A backlog that is being chained, as after an upgrade, has not waited; neither has the past of a demo community,
 * which is younger than its transfers.
 */
export async function findWaitingSeconds(sql: Queries, communityId: number): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from clock_timestamp() - greatest(t.created_at, h.chained_at, c.created_at))::int8 as seconds
    from transfers t join communities c on c.id = ${communityId}
      left join ledger_heads h on h.community_id = ${communityId}
    where t.community_id = ${communityId} and t.id > coalesce((
      select transfer_id from ledger_heads where community_id = ${communityId}), 0)
    order by t.id limit 1`
  return Math.max(0, row?.seconds ?? 0)
}

/** Whether a member's wallet has transfers after the end of the chain. */
export async function hasUnchained(sql: Queries, communityId: number, memberId: number): Promise<boolean> {
  const moved = (side: 'debit' | 'credit') => sql`
    exists (
      select 1 from transfers
      where community_id = ${communityId} and id > coalesce((
          select transfer_id from ledger_heads where community_id = ${communityId}), 0)
        and ${identifier(`${side}_account_id`)} = (
          select id from accounts where community_id = ${communityId} and member_id = ${memberId}))`
  const [row] = await sql<[{ found: boolean }]>`select ${moved('debit')} or ${moved('credit')} as found`
  return row.found
}

/** Counts transfers after the end of the chain. */
export async function countUnchained(sql: Queries, communityId: number, after: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from transfers where community_id = ${communityId} and id > ${after}`
  return row.count
}
