import type { Fragment, Queries } from '../../postgres/connect.ts'
import type { ListRequest } from '../../http/shared/paging.ts'

/** The owner of an account. */
export interface PartyRow {
  kind: 'member' | 'partner' | 'community'
  id: number | null
  name: string
}

export interface TransferRow {
  id: number
  kind: 'credit' | 'exchange' | 'adjustment'
  occurred_on: string
  created_at: string
  amount: number
  from: PartyRow
  to: PartyRow
  note: string | null
  listing: { id: number; title: string } | null
  reference: string | null
  made_by: { kind: string; name: string | null }
  reversal: {
    id: number
    created_at: string
    reason: string | null
    made_by: { kind: string; name: string | null }
  } | null
}

export interface TransferFilters {
  member_id?: number
  kind?: 'credit' | 'exchange' | 'adjustment'
  status?: 'standing' | 'reversed'
  from?: string
  until?: string
}

/** Lists the newest first. A reversed transfer and its reversal are one record. */
export async function listTransfers(
  sql: Queries,
  communityId: number,
  { limit, after }: ListRequest,
  { member_id, kind, status, from, until }: TransferFilters,
): Promise<TransferRow[]> {
  const isReversed = sql`
    exists (select from transfers r where r.community_id = ${communityId} and r.reverses_id = t.id)`
  const page = (side: Fragment = sql``): Fragment => sql`
    select t.* from transfers t
    where t.community_id = ${communityId} and t.kind <> 'reversal' ${side}
      ${after ? sql`and t.id < ${after.id}` : sql``}
      ${kind === undefined ? sql`` : sql`and t.kind = ${kind}`}
      ${status === undefined ? sql`` : status === 'reversed' ? sql`and ${isReversed}` : sql`and not ${isReversed}`}
      ${from === undefined ? sql`` : sql`and t.occurred_on >= ${from}::date`}
      ${until === undefined ? sql`` : sql`and t.occurred_on <= ${until}::date`}
    order by t.id desc limit ${limit + 1}`
  if (member_id === undefined) return describeTransfers(sql, communityId, page())
  // Each side has its own index. With `or`, PostgreSQL may scan the whole ledger for a member with few transfers.
  const wallet = sql`(select id from accounts where community_id = ${communityId} and member_id = ${member_id})`
  const debits = page(sql`and t.debit_account_id = ${wallet}`)
  const credits = page(sql`and t.credit_account_id = ${wallet}`)
  const both: Fragment = sql`select * from ((${debits}) union all (${credits})) t order by t.id desc limit ${limit + 1}`
  return describeTransfers(sql, communityId, both)
}

export async function findTransferRecord(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<TransferRow | undefined> {
  const one: Fragment = sql`
    select t.* from transfers t where t.community_id = ${communityId} and t.id = ${id} and t.kind <> 'reversal'`
  const [row] = await describeTransfers(sql, communityId, one)
  return row
}

/**
 * Selects the page before joining the details. With all joins in one step and no table statistics yet, PostgreSQL
 * joined the whole ledger to show one page (over 10 s with 2,000 transfers, 0.07 s this way).
 */
async function describeTransfers(sql: Queries, communityId: number, selection: Fragment): Promise<TransferRow[]> {
  const party = (account: Fragment, member: Fragment, partner: Fragment) => sql`
    jsonb_build_object('kind', ${account}.kind, 'id', coalesce(${account}.member_id, ${account}.partner_id),
      'name', coalesce(${member}.name, ${partner}.name, m.name))`
  const maker = (transfer: Fragment, admin: Fragment, client: Fragment) => sql`
    jsonb_build_object('kind', ${transfer}.made_by_kind, 'name', coalesce(${admin}.name, ${client}.public_id))`
  return sql<TransferRow[]>`
    with chosen as materialized (${selection})
    select t.id, t.kind, t.occurred_on, t.created_at, t.amount, n.note, k.reference,
      ${party(sql`d`, sql`dm`, sql`dp`)} as from, ${party(sql`c`, sql`cm`, sql`cp`)} as to,
      case when l.id is not null then jsonb_build_object('id', l.id, 'title', l.title) end as listing,
      ${maker(sql`t`, sql`ta`, sql`tc`)} as made_by,
      case when r.id is not null then jsonb_build_object('id', r.id, 'created_at', r.created_at,
        'reason', coalesce(rn.note, kr.reason), 'made_by', ${maker(sql`r`, sql`ra`, sql`rc`)}) end as reversal
    from chosen t
    join communities m on m.id = ${communityId}
    join accounts d on d.community_id = ${communityId} and d.id = t.debit_account_id
    join accounts c on c.community_id = ${communityId} and c.id = t.credit_account_id
    left join members dm on dm.community_id = ${communityId} and dm.id = d.member_id
    left join members cm on cm.community_id = ${communityId} and cm.id = c.member_id
    left join partners dp on dp.community_id = ${communityId} and dp.id = d.partner_id
    left join partners cp on cp.community_id = ${communityId} and cp.id = c.partner_id
    left join listings l on l.community_id = ${communityId} and l.id = t.listing_id
    left join credits k on t.kind = 'credit' and k.community_id = ${communityId} and k.transfer_id = t.id
    left join transfer_notes n on n.community_id = ${communityId} and n.transfer_id = t.id
    left join admins ta on t.made_by_kind = 'admin' and ta.id = t.made_by_id
    left join clients tc on t.made_by_kind = 'client' and tc.community_id = ${communityId} and tc.id = t.made_by_id
    left join transfers r on r.community_id = ${communityId} and r.reverses_id = t.id
    left join transfer_notes rn on rn.community_id = ${communityId} and rn.transfer_id = r.id
    left join credit_reversals kr on kr.community_id = ${communityId} and kr.partner_id = k.partner_id and kr.credit_id = k.id
    left join admins ra on r.made_by_kind = 'admin' and ra.id = r.made_by_id
    left join clients rc on r.made_by_kind = 'client' and rc.community_id = ${communityId} and rc.id = r.made_by_id
    order by t.id desc`
}

/** Two exchanges that agree in these four fields are probably one slip entered twice. */
export interface ExchangeKey {
  giverAccountId: number
  receiverAccountId: number
  centihours: number
  occurredOn: string
}

/** Returns the position and the transfer of each slip that is already recorded and not reversed. */
export async function findSameExchanges(
  sql: Queries,
  communityId: number,
  slips: ExchangeKey[],
): Promise<{ n: number; transfer_id: number }[]> {
  return sql<{ n: number; transfer_id: number }[]>`
    select i.n::int4 as n, min(t.id) as transfer_id
    from unnest(${slips.map((slip) => slip.receiverAccountId)}::int8[], ${slips.map((slip) => slip.giverAccountId)}::int8[],
      ${slips.map((slip) => slip.centihours)}::int8[], ${slips.map((slip) => slip.occurredOn)}::date[]
    ) with ordinality as i(debit_id, credit_id, amount, occurred_on, n)
    join transfers t on t.community_id = ${communityId} and t.debit_account_id = i.debit_id
      and t.credit_account_id = i.credit_id and t.amount = i.amount and t.occurred_on = i.occurred_on
      and t.kind = 'exchange'
    where not exists (select from transfers r where r.community_id = ${communityId} and r.reverses_id = t.id)
    group by i.n order by i.n`
}

/** The lower limit of balances, and today in the community's time zone. */
export async function findLimits(
  sql: Queries,
  communityId: number,
): Promise<{ lower_limit_centihours: number; today: string }> {
  const [row] = await sql<[{ lower_limit_centihours: number; today: string }]>`
    select lower_limit_centihours, (now() at time zone time_zone)::date as today from communities
    where id = ${communityId}`
  return row
}

/** Returns the ids that exist. */
export async function findListingIds(sql: Queries, communityId: number, ids: number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await sql<{ id: number }[]>`
    select id from listings where community_id = ${communityId} and id = any (${ids}::int8[])`
  return rows.map(({ id }) => id)
}
