import type { Scope } from '../../core/scopes.ts'
import { EVENT_TYPES, type EventType } from '../events/event-types.ts'

/** A name, a prefix followed by `.*`, or `*`. */
const PATTERN = /^(\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*(\.\*)?)$/
export const PATTERN_LENGTH_MAX = 100

export function isEventPattern(text: string): boolean {
  return text.length <= PATTERN_LENGTH_MAX && PATTERN.test(text)
}

/** Returns well-formed patterns that match no known event type. */
export function unknownPatterns(patterns: readonly string[]): string[] {
  return patterns.filter((pattern) => !Object.keys(EVENT_TYPES).some((type) => matches(pattern, type)))
}

export function matches(pattern: string, type: string): boolean {
  if (pattern === '*' || pattern === type) return true
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))
}

/** The scopes that a recipient needs to receive the event. */
export function scopesFor(type: EventType): Scope[] {
  const scope = EVENT_TYPES[type].scope
  return scope ? ['webhooks.manage', scope] : ['webhooks.manage']
}
