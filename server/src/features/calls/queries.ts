import type { Fragment, Queries } from '../../postgres/connect.ts'
import type { Position } from '../../http/shared/page-queries.ts'
import { msOfRequestId } from '../../http/shared/request-id.ts'

export interface CallFilter {
  partner_id?: number
  /** A status, or a class like 4xx. */
  status?: string
  method?: string
  path?: string
  error?: string
  request_id?: string
  from?: string
  until?: string
}

export interface CallRow {
  request_id: string
  at: string
  partner_id: number | null
  partner_name: string | null
  method: string
  path: string
  status: number
  error: string | null
  duration_ms: number
}

export interface CallDetailRow extends CallRow {
  client_id: string | null
  client_name: string | null
  route: string | null
  error_description: string | null
  address: string | null
  user_agent: string | null
}

const CLASS_SIZE = 100

/** Tolerance between the time in a request id and the time of its call, in case the node's clock was adjusted. */
const CLOCK_ADJUSTMENT_MAX = '1 minute'

/** Spells out `status >= 400`, so that PostgreSQL uses the partial index of failed calls. */
function filterCalls(sql: Queries, filter: CallFilter) {
  const { partner_id, status, method, path, error, request_id, from, until } = filter
  const [lowest, highest] = statusRange(status)
  const onlyErrors = error !== undefined || lowest >= 4 * CLASS_SIZE
  return sql`
    ${partner_id === undefined ? sql`` : sql`and l.partner_id = ${partner_id}`}
    ${onlyErrors ? sql`and l.status >= 400` : sql``}
    ${status === undefined ? sql`` : sql`and l.status between ${lowest} and ${highest}`}
    ${method === undefined ? sql`` : sql`and l.method = ${method.toUpperCase()}`}
    ${path === undefined ? sql`` : filterByPath(sql, path)}
    ${error === undefined ? sql`` : sql`and l.error = ${error}`}
    ${request_id === undefined ? sql`` : filterByRequestId(sql, request_id)}
    ${from === undefined ? sql`` : sql`and l.at >= ${from}::timestamptz and l.second_at >= date_trunc('second', ${from}::timestamptz)`}
    ${until === undefined ? sql`` : sql`and l.at < ${until}::timestamptz and l.second_at < ${until}::timestamptz`}`
}

/** The second condition skips whole groups without expanding them. */
function filterByPath(sql: Queries, part: string) {
  return sql`and position(lower(${part}) in lower(l.path)) > 0
    and position(lower(${part}) in lower(coalesce(array_to_string(l.paths, ' '), l.route))) > 0`
}

/** Limits the search to groups of about that time that contain the id, before they are expanded into calls. */
function filterByRequestId(sql: Queries, requestId: string) {
  const ms = msOfRequestId(requestId)
  const time = sql`to_timestamp(${ms ?? 0}::float8 / 1000)`
  const around = sql`and l.second_at between ${time} - ${CLOCK_ADJUSTMENT_MAX}::interval and ${time} + ${CLOCK_ADJUSTMENT_MAX}::interval`
  return sql`
    and l.request_id = ${requestId} and ${requestId} = any (l.request_ids) ${ms === undefined ? sql`` : around}`
}

function statusRange(status: string | undefined): [lowest: number, highest: number] {
  if (status === undefined) return [0, 0]
  if (!status.endsWith('xx')) return [Number(status), Number(status)]
  const lowest = Number(status[0]) * CLASS_SIZE
  return [lowest, lowest + CLASS_SIZE - 1]
}

/** Lists the newest first. */
export async function listCalls(
  sql: Queries,
  communityId: number,
  filter: CallFilter,
  { after, limit }: { after: Position<string> | undefined; limit: number },
): Promise<CallRow[]> {
  return sql<CallRow[]>`
    select l.request_id, l.at, l.partner_id, p.name as partner_name, l.method, l.path, l.status, l.error, l.duration_ms
    from call_log l
    left join partners p on p.community_id = ${communityId} and p.id = l.partner_id
    where l.community_id = ${communityId} ${filterCalls(sql, filter)}
      ${
        after
          ? sql`and (l.at, l.request_id) < (${after.at!}::timestamptz, ${after.id}::uuid)
              and l.second_at <= ${after.at!}::timestamptz`
          : sql``
      }
    order by l.second_at desc, l.at desc, l.request_id desc limit ${limit}`
}

export async function findCall(
  sql: Queries,
  communityId: number,
  requestId: string,
): Promise<CallDetailRow | undefined> {
  const [row] = await sql<
    CallDetailRow[]
  >`${selectDetails(sql, communityId)} ${filterByRequestId(sql, requestId)} limit 1`
  return row
}

const selectDetails = (sql: Queries, communityId: number) => sql`
  select l.request_id, l.at, l.partner_id, p.name as partner_name, l.method, l.path, l.status, l.error, l.duration_ms,
    c.public_id as client_id, c.name as client_name, l.route, l.error_description, host(l.address) as address,
    l.user_agent
  from call_log l
  left join partners p on p.community_id = ${communityId} and p.id = l.partner_id
  left join clients c on c.community_id = ${communityId} and c.id = l.client_id
  where l.community_id = ${communityId}`

export interface ErrorGroupRow {
  status: number
  error: string | null
  method: string
  route: string | null
  partner_id: number | null
  partner_name: string | null
  count: number
  last_at: string
}

/** Groups failed calls, most frequent first. */
export async function groupErrors(
  sql: Queries,
  communityId: number,
  filter: Pick<CallFilter, 'partner_id' | 'from' | 'until'>,
  limit: number,
): Promise<ErrorGroupRow[]> {
  return sql<ErrorGroupRow[]>`
    select g.status, g.error, g.method, g.route, g.partner_id, p.name as partner_name, g.count, g.last_at
    from (
      select l.status, l.error, l.method, l.route, l.partner_id, count(*) as count, max(l.at) as last_at
      from call_log l
      where l.community_id = ${communityId} ${filterCalls(sql, filter)} and l.status >= 400
      group by 1, 2, 3, 4, 5 order by count(*) desc, max(l.at) desc limit ${limit}
    ) g
    left join partners p on p.community_id = ${communityId} and p.id = g.partner_id
    order by g.count desc, g.last_at desc`
}

export interface CallPointRow {
  at: string
  answered: number
  unauthenticated: number
  forbidden: number
  limited: number
  rejected: number
  failed: number
}

/** Counts calls by how they were answered, in steps from one time to another, by the community's clock. */
export async function countOverTime(
  sql: Queries,
  communityId: number,
  { partner_id, from, until }: { partner_id: number | undefined; from: string; until: string },
  { timeZone, step }: { timeZone: string; step: string },
): Promise<CallPointRow[]> {
  // A local time comes twice when the clocks are set back, so only days are counted in local time.
  const isLocal = step === '1 day'
  const start = sql`date_trunc('day', ${from}::timestamptz, ${timeZone})`
  const slotOf = (time: Fragment) =>
    isLocal
      ? sql`date_trunc('day', (${time}) at time zone ${timeZone})`
      : sql`date_bin(${step}::interval, ${time}, ${start})`
  return sql<CallPointRow[]>`
    with counted as materialized (
      select ${slotOf(sql`g.second_at`)} as slot,
        sum(g.calls) filter (where g.status < 400) as answered,
        sum(g.calls) filter (where g.status = 401) as unauthenticated,
        sum(g.calls) filter (where g.status = 403) as forbidden,
        sum(g.calls) filter (where g.status = 429) as limited,
        sum(g.calls) filter (where g.status >= 400 and g.status < 500 and g.status not in (401, 403, 429)) as rejected,
        sum(g.calls) filter (where g.status >= 500) as failed
      from call_groups g
      where g.community_id = ${communityId} and g.second_at >= ${from}::timestamptz and g.second_at < ${until}::timestamptz
        ${partner_id === undefined ? sql`` : sql`and g.partner_id = ${partner_id}`}
      group by 1
    )
    select ${isLocal ? sql`s.slot at time zone ${timeZone}` : sql`s.slot`} as at, coalesce(c.answered, 0)::int8 as answered,
      coalesce(c.unauthenticated, 0)::int8 as unauthenticated, coalesce(c.forbidden, 0)::int8 as forbidden,
      coalesce(c.limited, 0)::int8 as limited, coalesce(c.rejected, 0)::int8 as rejected,
      coalesce(c.failed, 0)::int8 as failed
    from generate_series(${slotOf(sql`${from}::timestamptz`)},
      ${slotOf(sql`${until}::timestamptz - interval '1 microsecond'`)}, ${step}::interval) as s(slot)
    left join counted c on c.slot = s.slot
    order by s.slot`
}

/** The statement for an export, to be read with a cursor. */
export function selectCalls(sql: Queries, communityId: number, filter: CallFilter) {
  return sql<CallDetailRow[]>`
    ${selectDetails(sql, communityId)} ${filterCalls(sql, filter)}
    order by l.second_at desc, l.at desc, l.request_id desc`
}

export async function countCalls(sql: Queries, communityId: number, filter: CallFilter): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from call_log l where l.community_id = ${communityId} ${filterCalls(sql, filter)}`
  return row.count
}
