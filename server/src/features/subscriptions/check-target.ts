import type { ApiError } from '../../http/shared/errors.ts'
import { invalidField } from '../../http/shared/validation.ts'
import { findHostProblem } from '../../outbound/addresses.ts'

export const TARGET_LENGTH_MAX = 2048

/** Checks the host of a target that matches the schema. The resolved address is checked at every connection. */
export function checkTarget(text: string, allowPrivate: boolean): void {
  if (!URL.canParse(text)) throw invalidTarget('invalid_format', 'is not an address')
  const problem = findHostProblem(new URL(text), allowPrivate)
  if (problem) throw invalidTarget('not_allowed', problem)
}

function invalidTarget(code: string, message: string): ApiError {
  return invalidField('target_url', code, message)
}
