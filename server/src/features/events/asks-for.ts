import { identifier, type Queries } from '../../postgres/connect.ts'
import { EVENT_TYPES } from './event-types.ts'

const SCOPED_TYPES = Object.entries(EVENT_TYPES).flatMap(([type, { scope }]) => (scope ? [{ type, scope }] : []))

/**
 * SQL condition: whether the subscription `s` subscribes to the event's type and has its scope. Patterns are compared as
 * by `matches` in subscriptions/event-patterns.ts. Types have two parts, so there is only one prefix pattern.
 */
export function asksFor(sql: Queries, event: string) {
  const type = identifier(`${event}.type`)
  return sql`
    s.event_types && array['*', ${type}, split_part(${type}, '.', 1) || '.*'] and not exists (
      select 1 from unnest(${SCOPED_TYPES.map((one) => one.type)}::text[], ${SCOPED_TYPES.map(({ scope }) => scope)}::text[])
        as scoped(type, scope)
      where scoped.type = ${type} and scoped.scope <> all (s.scopes))`
}
