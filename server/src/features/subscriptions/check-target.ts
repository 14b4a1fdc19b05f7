import { invalidFields } from '../../http/shared/validation.ts'
import type { FieldError } from '../../http/shared/errors.ts'
import { findHostProblem } from '../../outbound/addresses.ts'
import { isEventPattern } from './event-patterns.ts'
import { because, type Reason } from '../../core/reasons.ts'

export const TARGET_LENGTH_MAX = 2048

/** Checks what the schema cannot, and reports every problem. */
export function checkSubscription(
  { event_types = [], target_url }: { event_types?: string[]; target_url?: string },
  allowPrivate: boolean,
): void {
  const problems: FieldError[] = []
  if (!event_types.every(isEventPattern)) {
    problems.push(problemOf('event_types', 'invalid_format', because('field_event_types')))
  }
  if (target_url !== undefined) problems.push(...targetProblems(target_url, allowPrivate))
  if (problems.length > 0) throw invalidFields(problems)
}

/** The host of a target that matches the schema. The resolved address is checked at every connection. */
function targetProblems(text: string, allowPrivate: boolean): FieldError[] {
  if (!URL.canParse(text)) return [problemOf('target_url', 'invalid_format', because('field_not_url'))]
  const problem = findHostProblem(new URL(text), allowPrivate)
  return problem ? [problemOf('target_url', 'not_allowed', because(`field_${problem}`))] : []
}

function problemOf(field: string, code: string, reason: Reason): FieldError {
  return { field, code, message: reason.message, reason }
}
