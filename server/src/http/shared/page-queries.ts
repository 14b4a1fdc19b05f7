import { identifier, type Queries } from '../../postgres/connect.ts'

/** The position of a row in its list: an id, or a time or another sort key and an id. */
export type Position<Id extends number | string = number> = { id: Id; at?: string; key?: string }

/** Where a list ordered by time of change starts and ends. */
interface ChangeBounds {
  since: string | undefined
  after: Position | undefined
  horizon: string | undefined
}

/**
 * Hides a bound or limit of a list from PostgreSQL's planner behind a `select`. Otherwise it plans for the given
 * values: a full scan for a small community, and a new plan per page for a large one, which took a third of the time
 * with a million members. Hidden, they lead to one generic plan, made once, that reads a page of the index.
 */
export function hideFromPlanner(sql: Queries, place: number) {
  return sql`(select ${place}::int8)`
}

function hideTimeFromPlanner(sql: Queries, time: string) {
  return sql`(select ${time}::timestamptz)`
}

export function afterId(sql: Queries, after: Position | undefined) {
  return sql`id > ${hideFromPlanner(sql, after?.id ?? 0)}`
}

/** Restricts a list to rows changed between `since` (or the cursor) and the horizon, by this column. */
export function changedSince(sql: Queries, column: string, { since, after, horizon }: ChangeBounds) {
  const start = after
    ? sql`(${identifier(column)}, id) > (${hideTimeFromPlanner(sql, after.at!)}, ${hideFromPlanner(sql, after.id)})`
    : sql`${identifier(column)} >= ${hideTimeFromPlanner(sql, since!)}`
  return sql`${start} and ${identifier(column)} < ${hideTimeFromPlanner(sql, horizon!)}`
}

/** Reads one row more than the limit, which shows whether there is another page. */
export function limitRows(sql: Queries, limit: number) {
  return sql`limit ${hideFromPlanner(sql, limit + 1)}`
}

/** Changes of the community before this time are committed, and later statements see them. */
export async function syncHorizon(sql: Queries, communityId: number): Promise<string> {
  const [row] = await sql<[{ horizon: string }]>`select sync_horizon(${communityId}) as horizon`
  return row.horizon
}
