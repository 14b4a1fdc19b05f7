import { invalidField } from '../../http/shared/validation.ts'
import { findHostProblem } from '../../outbound/addresses.ts'
import { isEventPattern } from './event-patterns.ts'
import { because } from '../../core/reasons.ts'

export const TARGET_LENGTH_MAX = 2048

/** Checks the host of a target that matches the schema. The resolved address is checked at every connection. */
export function checkTarget(text: string, allowPrivate: boolean): void {
  if (!URL.canParse(text)) throw invalidField('target_url', 'invalid_format', because('field_not_url'))
  const problem = findHostProblem(new URL(text), allowPrivate)
  if (problem) throw invalidField('target_url', 'not_allowed', because(`field_${problem}`))
}

/** Checks what the schema cannot. */
export function checkSubscription(
  { event_types, target_url }: { event_types?: string[]; target_url?: string },
  allowPrivate: boolean,
): void {
  const malformed = event_types?.find((pattern) => !isEventPattern(pattern))
  if (malformed !== undefined) throw invalidField('event_types', 'invalid_format', because('field_event_types'))
  if (target_url !== undefined) checkTarget(target_url, allowPrivate)
}
