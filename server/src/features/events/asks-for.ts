import { identifier, type Queries } from '../../postgres/connect.ts'

/**
 * SQL condition: whether the subscription `s` subscribes to the event's type. Equivalent to `matches` in
 * subscriptions/event-types.ts. Types have two parts, so there is only one prefix pattern to compare.
 */
export function asksFor(sql: Queries, event: string) {
  const type = identifier(`${event}.type`)
  return sql`s.event_types && array['*', ${type}, split_part(${type}, '.', 1) || '.*']`
}
