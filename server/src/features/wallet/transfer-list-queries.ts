import { identifier, type Fragment, type Queries } from '../../postgres/connect.ts'
import { COUNTED_MAX, SORTED_MAX, type Total } from '../../http/console/office-lists.ts'
import { hideFromPlanner, type Position } from '../../http/shared/page-queries.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { adminName } from '../audit/admin-queries.ts'

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
  category: string | null
  limit_reason: string | null
  reference: string | null
  made_by: { kind: string; name: string | null }
  reversal: {
    id: number
    created_at: string
    reason: string | null
    made_by: { kind: string; name: string | null }
  } | null
}

export type TransferSort = 'day' | '-day'

export interface TransferFilters {
  member_id?: number
  kind?: 'credit' | 'exchange' | 'adjustment'
  status?: 'standing' | 'reversed'
  from?: string
  until?: string
  category?: string
}

/** Without an order of its own, a list of days is ordered by day: its index then serves both. */
export function transferSort({
  sort,
  from,
  until,
}: TransferFilters & { sort?: TransferSort }): TransferSort | undefined {
  return sort ?? (from !== undefined || until !== undefined ? '-day' : undefined)
}

interface PlaceRow {
  id: number
  day: string
}

/** Lists what was recorded last first, or by day. A reversed transfer and its reversal are one record. */
export async function listTransfers(
  sql: Queries,
  communityId: number,
  request: Pick<ListRequest, 'limit' | 'after'>,
  filters: TransferFilters,
  { sort, withTotal = false }: { sort?: TransferSort | undefined; withTotal?: boolean } = {},
): Promise<{ rows: TransferRow[]; total?: Total | undefined }> {
  const { places, total } = await findPlaces(sql, communityId, request, filters, sort, withTotal)
  const ids = places.map(({ id }) => id)
  const rows = await describeTransfers(sql, communityId, chosenTransfers(sql, communityId, ids))
  const byId = new Map(rows.map((row) => [row.id, row]))
  return { rows: ids.map((id) => byId.get(id)!), total }
}

/**
 * The matches of a filter with an index are read as a whole and sorted, unless there are too many: then the ledger is
 * read in the order of the list until the page is full, which is soon if many match.
 */
async function findPlaces(
  sql: Queries,
  communityId: number,
  request: Pick<ListRequest, 'limit' | 'after'>,
  filters: TransferFilters,
  sort: TransferSort | undefined,
  withTotal: boolean,
): Promise<{ places: PlaceRow[]; total?: Total | undefined }> {
  const matches = matchingIds(sql, communityId, filters)
  if (matches === undefined || (hasBetterDays(filters) && (await countMatches(sql, matches)).counted > SORTED_MAX)) {
    const total = withTotal ? await countTransfers(sql, communityId, filters) : undefined
    const places = await walkInOrder(sql, communityId, request, filters, sort)
    return { places, total }
  }
  if (matches.isWhole) {
    const total = withTotal || sort !== undefined ? await countMatches(sql, matches) : undefined
    if (sort === undefined) return { places: await walkMatches(sql, request, matches), total }
    if (total!.counted > SORTED_MAX) {
      return { places: await walkInOrder(sql, communityId, request, filters, sort), total }
    }
  }
  const sorted = await sortMatches(sql, communityId, request, filters, sort, matches.ids())
  if (sorted.total.counted <= SORTED_MAX) return sorted
  return { places: await walkInOrder(sql, communityId, request, filters, sort), total: sorted.total }
}

/**
 * If a kind or category has many transfers, days have fewer, and their index is in the order of the list. A member has few
 * transfers in all.
 */
function hasBetterDays({ member_id, from, until }: TransferFilters): boolean {
  return member_id === undefined && (from !== undefined || until !== undefined)
}

interface Matches {
  /** With a condition on the id or without. */
  ids: (following?: (id: Fragment) => Fragment) => Fragment
  /** Whether these ids fit all filters, and their index is in the order of ids. */
  isWhole: boolean
}

/** The ids that fit the filter with the fewest matches, by its index; undefined if no filter has one. */
function matchingIds(sql: Queries, communityId: number, filters: TransferFilters): Matches | undefined {
  const { member_id, category, status, kind, from, until } = filters
  const isAnyDay = from === undefined && until === undefined
  const by = (table: string, id: string, condition: Fragment, isWhole: boolean): Matches => ({
    ids: (following = () => sql``) => sql`
      select ${identifier(id)} as id from ${identifier(table)}
      where community_id = ${communityId} and ${condition} ${following(identifier(id))}`,
    isWhole: isWhole && isAnyDay,
  })
  if (member_id !== undefined) {
    const wallet = sql`(select id from accounts where community_id = ${communityId} and member_id = ${member_id})`
    // Each side has its own index. With `or`, PostgreSQL may scan the whole ledger for a member with few transfers.
    const ids = () => sql`
      select id from transfers where community_id = ${communityId} and debit_account_id = ${wallet}
      union all select id from transfers where community_id = ${communityId} and credit_account_id = ${wallet}`
    return { ids, isWhole: false }
  }
  if (category !== undefined) {
    const ofCategory = sql`category_id = (
      select id from categories where community_id = ${communityId} and name = ${category})`
    // Only exchanges have one.
    const isWhole = status === undefined && (kind === undefined || kind === 'exchange')
    return by('transfer_categories', 'transfer_id', ofCategory, isWhole)
  }
  if (status === 'reversed') return by('transfers', 'reverses_id', sql`reverses_id is not null`, kind === undefined)
  if (kind === 'credit') return by('credits', 'transfer_id', sql`true`, status === undefined)
  if (kind !== undefined) {
    const ofKind = sql`kind = ${kind} and kind in ('exchange', 'adjustment')`
    return by('transfers', 'id', ofKind, status === undefined)
  }
  return undefined
}

/** Counts up to one more than are sorted. */
async function countMatches(sql: Queries, { ids }: Matches): Promise<Total> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from (${ids()} limit ${hideFromPlanner(sql, SORTED_MAX + 1)}) counted`
  return { counted: row.count, max: SORTED_MAX }
}

/** Reads a page of the filter's own index, the latest first. */
async function walkMatches(
  sql: Queries,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  { ids }: Matches,
): Promise<PlaceRow[]> {
  const following = (id: Fragment) => (after ? sql`and ${id} < ${hideFromPlanner(sql, after.id)}` : sql``)
  const rows = await sql<{ id: number }[]>`
    ${ids(following)} order by 1 desc limit ${hideFromPlanner(sql, limit + 1)}`
  return rows.map(({ id }) => ({ id, day: '' }))
}

async function sortMatches(
  sql: Queries,
  communityId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  filters: TransferFilters,
  sort: TransferSort | undefined,
  matches: Fragment,
): Promise<{ places: PlaceRow[]; total: Total }> {
  const rows = await sql<{ total: number; id: number | null; day: string | null }[]>`
    with matching as materialized (
      select t.id, t.occurred_on from (${matches} offset 0) d, lateral (
        select id, occurred_on from transfers t
        where t.community_id = ${communityId} and t.id = d.id and t.kind <> 'reversal' ${conditions(sql, communityId, filters)}
        limit 1
      ) t
      limit ${SORTED_MAX + 1}
    )
    select c.total, p.id, p.occurred_on::text as day
    from (select count(*) as total from matching) c left join lateral (
      select id, occurred_on from matching t where true ${start(sql, sort, after)}
      order by ${direction(sql, sort)} limit ${limit + 1}
    ) p on true
    order by ${direction(sql, sort, 'p')}`
  const places = rows.filter((row): row is PlaceRow & { total: number } => row.id !== null)
  return { places, total: { counted: rows[0]!.total, max: SORTED_MAX } }
}

async function walkInOrder(
  sql: Queries,
  communityId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  filters: TransferFilters,
  sort: TransferSort | undefined,
): Promise<PlaceRow[]> {
  // With the amount, the index of days cannot answer alone: a page by id was made by sorting all of that index.
  return sql<PlaceRow[]>`
    select t.id, t.occurred_on::text as day, t.amount from transfers t
    where t.community_id = ${communityId} and t.kind <> 'reversal' ${conditions(sql, communityId, filters)}
      ${start(sql, sort, after)}
    order by ${direction(sql, sort)} limit ${hideFromPlanner(sql, limit + 1)}`
}

/** Counts up to one more than the maximum. */
async function countTransfers(sql: Queries, communityId: number, filters: TransferFilters): Promise<Total> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from (
      select 1 from transfers t
      where t.community_id = ${communityId} and t.kind <> 'reversal' ${conditions(sql, communityId, filters)}
      limit ${hideFromPlanner(sql, COUNTED_MAX + 1)}) counted`
  return { counted: row.count, max: COUNTED_MAX }
}

function start(sql: Queries, sort: TransferSort | undefined, after: Position | undefined): Fragment {
  if (after === undefined) return sql``
  const id = hideFromPlanner(sql, after.id)
  if (sort === undefined) return sql`and t.id < ${id}`
  const place = sql`((select ${after.key!}::text::date), ${id})`
  return sort === 'day' ? sql`and (t.occurred_on, t.id) > ${place}` : sql`and (t.occurred_on, t.id) < ${place}`
}

function direction(sql: Queries, sort: TransferSort | undefined, table = 't'): Fragment {
  const [id, day] = [identifier(`${table}.id`), identifier(`${table}.occurred_on`)]
  if (sort === undefined) return sql`${id} desc`
  return sort === 'day' ? sql`${day}, ${id}` : sql`${day} desc, ${id} desc`
}

function conditions(
  sql: Queries,
  communityId: number,
  { member_id, kind, status, from, until, category }: TransferFilters,
): Fragment {
  // As values, these conditions are checked row by row. As joins, the planner collected all matches of one first.
  const reversal = sql`(select r.id from transfers r where r.community_id = ${communityId} and r.reverses_id = t.id)`
  const wallet = sql`(select id from accounts where community_id = ${communityId} and member_id = ${member_id ?? 0})`
  return sql`
    ${member_id === undefined ? sql`` : sql`and ${wallet} in (t.debit_account_id, t.credit_account_id)`}
    ${kind === undefined ? sql`` : sql`and t.kind = ${kind}`}
    ${status === undefined ? sql`` : sql`and ${reversal} is ${status === 'reversed' ? sql`not null` : sql`null`}`}
    ${from === undefined ? sql`` : sql`and t.occurred_on >= (select ${from}::text::date)`}
    ${until === undefined ? sql`` : sql`and t.occurred_on <= (select ${until}::text::date)`}
    ${
      category === undefined
        ? sql``
        : sql`and (
            select category_id from transfer_categories g where g.community_id = ${communityId} and g.transfer_id = t.id
          ) = (select id from categories where community_id = ${communityId} and name = ${category})`
    }`
}

/** Looks up each id by index (decision 17). */
function chosenTransfers(sql: Queries, communityId: number, ids: number[]): Fragment {
  return sql`
    select t.* from unnest((select ${ids}::int8[])) as i(id), lateral (
      select * from transfers s where s.community_id = ${communityId} and s.id = i.id limit 1
    ) t`
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
  const maker = (transfer: Fragment, client: Fragment) => sql`
    jsonb_build_object('kind', ${transfer}.made_by_kind, 'name', case when ${transfer}.made_by_kind = 'admin'
      then ${adminName(sql, communityId, sql`${transfer}.made_by_id`)} else ${client}.public_id end)`
  return sql<TransferRow[]>`
    with chosen as materialized (${selection})
    select t.id, t.kind, t.occurred_on, t.created_at, t.amount, n.note, n.limit_reason, g.name as category, k.reference,
      ${party(sql`d`, sql`dm`, sql`dp`)} as from, ${party(sql`c`, sql`cm`, sql`cp`)} as to,
      case when l.id is not null then jsonb_build_object('id', l.id, 'title', l.title) end as listing,
      ${maker(sql`t`, sql`tc`)} as made_by,
      case when r.id is not null then jsonb_build_object('id', r.id, 'created_at', r.created_at,
        'reason', coalesce(rn.note, kr.reason), 'made_by', ${maker(sql`r`, sql`rc`)}) end as reversal
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
    left join transfer_categories tg on tg.community_id = ${communityId} and tg.transfer_id = t.id
    left join categories g on g.community_id = ${communityId} and g.id = tg.category_id
    left join clients tc on t.made_by_kind = 'client' and tc.community_id = ${communityId} and tc.id = t.made_by_id
    left join transfers r on r.community_id = ${communityId} and r.reverses_id = t.id
    left join transfer_notes rn on rn.community_id = ${communityId} and rn.transfer_id = r.id
    left join credit_reversals kr on kr.community_id = ${communityId} and kr.partner_id = k.partner_id and kr.credit_id = k.id
    left join clients rc on r.made_by_kind = 'client' and rc.community_id = ${communityId} and rc.id = r.made_by_id
    order by t.id desc`
}
