import { identifier, type Queries } from '../../postgres/connect.ts'

/**
 * Whether the subscription `s` asks for an event of that type; in words of SQL what `matches` says. Types have two parts,
 * so that patterns can be compared whole.
 */
export function asksFor(sql: Queries, event: string) {
  const type = identifier(`${event}.type`)
  return sql`s.event_types && array['*', ${type}, split_part(${type}, '.', 1) || '.*']`
}
