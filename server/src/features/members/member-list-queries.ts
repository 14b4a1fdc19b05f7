import { isDay, isTime } from '../../core/times.ts'
import { identifier, type Fragment, type Queries } from '../../postgres/connect.ts'
import { COUNTED_MAX, SORTED_MAX, type Total } from '../../http/console/office-lists.ts'
import { hideFromPlanner, type Position } from '../../http/shared/page-queries.ts'
import type { KeyCheck, ListRequest } from '../../http/shared/paging.ts'
import { isStorableText } from '../../core/texts.ts'
import { lastExchangeOn } from '../wallet/queries.ts'
import { LONG_FIELD_NAMES } from './fields.ts'
import { listColumns, type MemberRecord } from './queries.ts'
import { tagList } from './tag-queries.ts'

/** A member in a list of the console. */
export type ListedMemberRow = Omit<MemberRecord, (typeof LONG_FIELD_NAMES)[number]> & {
  left_at: string | null
  balance: number
  last_active_on: string
  last_exchange_on: string | null
  tags: string[]
}

export const MEMBER_SORTS = ['name', 'balance', 'last_active_on', 'joined_at'] as const
type SortName = (typeof MEMBER_SORTS)[number]
/** With a minus: descending. Without a sort, the newest come first. */
export type MemberSort = SortName | `-${SortName}`

export interface MemberFilters {
  q?: string | undefined
  status?: 'active' | 'inactive' | 'erased'
  hidden?: boolean
  balance?: 'negative' | 'near_limit' | 'positive'
  /** No exchange since this day. */
  inactive_since?: string
  tag?: string
  /** Exactly this name, regardless of case and accents. */
  name?: string
}

/** Hours above the lower limit within which a balance is near it. */
const NEAR_LIMIT_CENTIHOURS = 200
/** Number of the newest members that a search scans before it falls back to the full-text index. */
const NEWEST_SCAN_ROWS = 2_000

/** The members of a page in their order, each with the key of that order. */
type PlaceRow = Required<Pick<Position, 'id' | 'key'>>

interface Places {
  places: PlaceRow[]
  total?: Total | undefined
}

/** An order: its key, as text for the cursor and back. The id makes it unique. */
interface Order {
  table: 'members' | 'accounts'
  id: Fragment
  key: Fragment | undefined
  isDescending: boolean
  read: (sql: Queries, key: string) => Fragment
}

function orderOf(sql: Queries, sort: MemberSort | undefined): Order {
  const isDescending = sort === undefined || sort.startsWith('-')
  const name = sort?.replace('-', '') as SortName | undefined
  const byMember = { table: 'members', id: sql`m.id`, isDescending } as const
  const byAccount = { table: 'accounts', id: sql`a.member_id`, isDescending } as const
  switch (name) {
    case 'name':
      return { ...byMember, key: sql`sort_name(m.name) collate "C"`, read: (tx, key) => tx`(select ${key}::text)` }
    case 'joined_at':
      return { ...byMember, key: sql`m.joined_at`, read: (tx, key) => tx`(select ${key}::text::timestamptz)` }
    case 'balance':
      return { ...byAccount, key: sql`a.balance`, read: (tx, key) => tx`(select ${key}::text::int8)` }
    case 'last_active_on':
      return { ...byAccount, key: sql`a.last_active_on`, read: (tx, key) => tx`(select ${key}::text::date)` }
    case undefined:
      return { ...byMember, key: undefined, read: (tx, key) => tx`${key}` }
  }
}

/** A time in UTC as PostgreSQL writes it. */
const WRITTEN_TIME = /^[\d-]{10} [\d:.]+\+00$/

const KEY_CHECKS: Record<SortName, KeyCheck> = {
  name: isStorableText,
  balance: (key) => /^-?\d{1,18}$/.test(key),
  last_active_on: isDay,
  joined_at: (key) => WRITTEN_TIME.test(key) && isTime(key.replace(' ', 'T').replace('+00', 'Z')),
}

export function memberKeyCheck(sort: MemberSort): KeyCheck {
  return KEY_CHECKS[sort.replace('-', '') as SortName]
}

/** Without an order of its own, a list of balances or days is ordered by them: their index then serves both. */
export function memberSort({ balance, inactive_since, q, tag }: MemberFilters): MemberSort | undefined {
  if (q !== undefined || tag !== undefined) return undefined
  if (balance !== undefined) return balance === 'positive' ? '-balance' : 'balance'
  return inactive_since === undefined ? undefined : 'last_active_on'
}

/** Returns one row more than the limit if there is another page. */
export async function listOfficeMembers(
  sql: Queries,
  communityId: number,
  request: Pick<ListRequest, 'limit' | 'after'>,
  filters: MemberFilters,
  { sort, withTotal = false }: { sort?: MemberSort | undefined; withTotal?: boolean } = {},
): Promise<{ rows: ListedMemberRow[]; keys: Map<number, string>; total?: Total | undefined }> {
  const order = orderOf(sql, sort)
  const isServed = isAboutWallets(filters) && sort?.replace('-', '') === memberSort(filters)?.replace('-', '')
  const { places, total } = isServed
    ? {
        places: await walkInOrder(sql, communityId, request, filters, order),
        total: withTotal ? await countWallets(sql, communityId, filters) : undefined,
      }
    : await findPlaces(sql, communityId, request, filters, order, withTotal)
  const rows = await readMembers(
    sql,
    communityId,
    places.map(({ id }) => id),
  )
  const keys = new Map(places.map(({ id, key }) => [id, key]))
  return { rows, keys, total }
}

/**
 * The matches of a filter with an index are read as a whole and sorted, unless there are too many: then members are read
 * in the order of the list until the page is full, which is soon if many match.
 */
async function findPlaces(
  sql: Queries,
  communityId: number,
  request: Pick<ListRequest, 'limit' | 'after'>,
  filters: MemberFilters,
  order: Order,
  withTotal: boolean,
): Promise<Places> {
  const walk = (newestRows?: number) => walkInOrder(sql, communityId, request, filters, order, newestRows)
  const matches = matchingIds(sql, communityId, filters)
  if (matches === undefined) {
    const total = withTotal ? await countMembers(sql, communityId, filters) : undefined
    return { places: await walk(), total }
  }
  // A common word fills the page from the newest members; the index would collect all of its matches first.
  const isNewestWord = filters.q !== undefined && order.key === undefined
  const newest = isNewestWord ? await walk(NEWEST_SCAN_ROWS) : []
  const isFilled = newest.length > request.limit
  if (isFilled && !withTotal) return { places: newest }
  // Counting is cheap where the filter's table knows everything that is asked for. Sorting looks each match up twice.
  if (matches.isWhole) {
    const total = isAboutWallets(filters)
      ? await countWallets(sql, communityId, filters)
      : await countMatches(sql, matches.ids)
    if (isFilled) return { places: newest, total }
    if (total.counted > SORTED_MAX) return { places: await walk(), total }
  }
  const sorted = await sortMatches(sql, communityId, request, filters, order, matches.ids)
  return sorted.total.counted <= SORTED_MAX ? sorted : { places: await walk(), total: sorted.total }
}

interface Matches {
  ids: Fragment
  /** Whether these ids fit all filters, not only the one whose index they come from. */
  isWhole: boolean
}

/** The ids that fit the filter with the fewest matches, by its index; undefined if no filter has one. */
function matchingIds(sql: Queries, communityId: number, filters: MemberFilters): Matches | undefined {
  const { name, q, tag, status, hidden, balance, inactive_since } = filters
  const ofMembers = (condition: Fragment): Matches => ({
    ids: sql`
      (select id from members m
      where community_id = ${communityId} and ${condition} ${memberConditions(sql, communityId, filters)} offset 0)`,
    isWhole: balance === undefined && inactive_since === undefined,
  })
  const ofAccounts = (condition: Fragment): Matches => ({
    ids: sql`
      (select member_id as id from accounts a
      where community_id = ${communityId} and kind = 'member' and ${condition} offset 0)`,
    isWhole: isAboutWallets(filters),
  })
  if (name !== undefined) return ofMembers(nameCondition(sql, 'm', name))
  if (q !== undefined) {
    // The words contain the community. With its id beside them, the planner also read all of its members from an index.
    return {
      ...ofMembers(sql`true`),
      ids: sql`
        (select id from (
          select * from members where search @@ search_query(${communityId}, ${q}) offset 0
        ) m where community_id = ${communityId} ${memberConditions(sql, communityId, { ...filters, q: undefined })})`,
    }
  }
  if (tag !== undefined) {
    const ids = sql`
      (select member_id as id from member_tags where community_id = ${communityId} and tag = ${tag} offset 0)`
    return { ids, isWhole: false }
  }
  if (status === 'erased') return ofMembers(sql`erased_at is not null`)
  if (status === 'inactive') return ofMembers(sql`status = 'inactive'`)
  if (hidden) return ofMembers(sql`hidden`)
  if (balance !== undefined) return ofAccounts(balanceCondition(sql, communityId, balance))
  if (inactive_since !== undefined) return ofAccounts(inactiveCondition(sql, inactive_since))
  return undefined
}

/** Counts up to one more than are sorted. */
async function countMatches(sql: Queries, ids: Fragment): Promise<Total> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from (select 1 from ${ids} d limit ${hideFromPlanner(sql, SORTED_MAX + 1)}) counted`
  return { counted: row.count, max: SORTED_MAX }
}

async function sortMatches(
  sql: Queries,
  communityId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  filters: MemberFilters,
  order: Order,
  matches: Fragment,
): Promise<Places & { total: Total }> {
  const rows = await sql<{ total: number; id: number | null; key: string | null }[]>`
    with matching as materialized (
      select d.id, ${order.key ?? sql`0`} as key
      from ${matches} d, lateral (
        select * from members m where community_id = ${communityId} and id = d.id ${memberConditions(sql, communityId, filters)}
        limit 1
      ) m, lateral (
        select member_id, balance, last_active_on from accounts a
        where community_id = ${communityId} and member_id = d.id ${accountConditions(sql, communityId, filters)} limit 1
      ) a
      limit ${SORTED_MAX + 1}
    )
    select c.total, p.id, p.key::text as key from (select count(*) as total from matching) c left join lateral (
      select id, key from matching f
      where true ${after ? sql`and ${afterPlace(sql, order, after, sql`f.key`, sql`f.id`)}` : sql``}
      order by ${direction(sql, order, sql`f.key`, sql`f.id`)} limit ${limit + 1}
    ) p on true
    order by ${direction(sql, order, sql`p.key`, sql`p.id`)}`
  const places = rows.filter((row): row is PlaceRow & { total: number } => row.id !== null)
  return { places, total: { counted: rows[0]!.total, max: SORTED_MAX } }
}

async function walkInOrder(
  sql: Queries,
  communityId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  filters: MemberFilters,
  order: Order,
  newestRows?: number,
): Promise<PlaceRow[]> {
  const start = after ? sql`and ${afterPlace(sql, order, after, order.key ?? sql`0`, order.id)}` : sql``
  const member = memberConditions(sql, communityId, filters)
  const account = accountConditions(sql, communityId, filters)
  const members =
    newestRows === undefined
      ? sql`members`
      : sql`
          (select * from members m where community_id = ${communityId} ${start} order by id desc
          limit ${hideFromPlanner(sql, newestRows)})`
  const source =
    order.table === 'members'
      ? sql`
          ${members} m, lateral (
            select member_id, balance, last_active_on from accounts a
            where community_id = ${communityId} and member_id = m.id ${account} limit 1
          ) a
          where m.community_id = ${communityId} ${member}`
      : sql`
          accounts a, lateral (
            select id from members m where community_id = ${communityId} and id = a.member_id ${member} limit 1
          ) m
          where a.community_id = ${communityId} and a.kind = 'member' ${account}`
  return sql<PlaceRow[]>`
    select ${order.id} as id, (${order.key ?? sql`0`})::text as key from ${source} ${start}
    order by ${direction(sql, order, order.key ?? sql`0`, order.id)} limit ${hideFromPlanner(sql, limit + 1)}`
}

/** Counts up to one more than the maximum. Only for filters without an index of their own, which most members fit. */
async function countMembers(sql: Queries, communityId: number, filters: MemberFilters): Promise<Total> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from (
      select 1 from members m where community_id = ${communityId} ${memberConditions(sql, communityId, filters)}
      limit ${hideFromPlanner(sql, COUNTED_MAX + 1)}) counted`
  return { counted: row.count, max: COUNTED_MAX }
}

/** Whether the index of a wallet knows all that is asked for. */
function isAboutWallets({ balance, inactive_since, status, ...others }: MemberFilters): boolean {
  const isOne = (balance === undefined) !== (inactive_since === undefined)
  return isOne && status === undefined && Object.values(others).every((value) => value === undefined)
}

async function countWallets(sql: Queries, communityId: number, filters: MemberFilters): Promise<Total> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from (
      select 1 from accounts a
      where community_id = ${communityId} and kind = 'member' ${accountConditions(sql, communityId, filters)}
        and member_id not in (select id from members where community_id = ${communityId} and erased_at is not null)
      limit ${hideFromPlanner(sql, COUNTED_MAX + 1)}) counted`
  return { counted: row.count, max: COUNTED_MAX }
}

function direction(sql: Queries, { key: orderKey, isDescending }: Order, key: Fragment, id: Fragment): Fragment {
  if (orderKey === undefined) return isDescending ? sql`${id} desc` : id
  return isDescending ? sql`${key} desc, ${id} desc` : sql`${key}, ${id}`
}

function afterPlace(sql: Queries, order: Order, after: Position, key: Fragment, id: Fragment): Fragment {
  const sign = order.isDescending ? sql`<` : sql`>`
  const afterId = hideFromPlanner(sql, after.id)
  if (order.key === undefined) return sql`${id} ${sign} ${afterId}`
  return sql`(${key}, ${id}) ${sign} (${order.read(sql, after.key!)}, ${afterId})`
}

/** Tag and words as values, which are checked row by row: as joins, the planner collected all matches of one first. */
function memberConditions(
  sql: Queries,
  communityId: number,
  { q, status, hidden, tag, name }: MemberFilters,
): Fragment {
  return sql`
    ${status === 'erased' ? sql`and m.erased_at is not null` : sql`and m.erased_at is null`}
    ${q === undefined ? sql`` : sql`and (m.search @@ search_query(${communityId}, ${q})) is true`}
    ${status === 'active' || status === 'inactive' ? sql`and m.status = ${status}` : sql``}
    ${hidden === undefined ? sql`` : hidden ? sql`and m.hidden` : sql`and not m.hidden`}
    ${name === undefined ? sql`` : sql`and ${nameCondition(sql, 'm', name)}`}
    ${
      tag === undefined
        ? sql``
        : sql`and (
            select true from member_tags g
            where g.community_id = ${communityId} and g.member_id = m.id and g.tag = ${tag}) is true`
    }`
}

function accountConditions(sql: Queries, communityId: number, { balance, inactive_since }: MemberFilters): Fragment {
  return sql`
    ${balance === undefined ? sql`` : sql`and ${balanceCondition(sql, communityId, balance)}`}
    ${inactive_since === undefined ? sql`` : sql`and ${inactiveCondition(sql, inactive_since)}`}`
}

function nameCondition(sql: Queries, table: string, name: string): Fragment {
  return sql`sort_name(${identifier(`${table}.name`)}) collate "C" = sort_name(${name}) collate "C" and ${identifier(`${table}.erased_at`)} is null`
}

function balanceCondition(sql: Queries, communityId: number, balance: NonNullable<MemberFilters['balance']>): Fragment {
  if (balance === 'positive') return sql`a.balance > 0`
  if (balance === 'negative') return sql`a.balance < 0`
  return sql`
    a.balance < (select lower_limit_centihours + ${NEAR_LIMIT_CENTIHOURS}::int8 from communities where id = ${communityId})`
}

function inactiveCondition(sql: Queries, day: string): Fragment {
  return sql`a.last_active_on < (select ${day}::text::date)`
}

/** Looks up each id by index, in this order (decision 17). */
async function readMembers(sql: Queries, communityId: number, ids: number[]): Promise<ListedMemberRow[]> {
  return sql<ListedMemberRow[]>`
    select m.*, a.balance, a.last_active_on, ${lastExchangeOn(sql, communityId)} as last_exchange_on,
      ${tagList(sql, communityId, 'm')} as tags
    from unnest((select ${ids}::int8[])) with ordinality as i(id, n), lateral (
      select ${listColumns('s')}, s.left_at from members s where community_id = ${communityId} and s.id = i.id limit 1
    ) m, lateral (
      select id, balance, last_active_on from accounts where community_id = ${communityId} and member_id = i.id limit 1
    ) a
    order by i.n`
}
