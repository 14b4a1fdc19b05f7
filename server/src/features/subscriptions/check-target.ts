import { isIP } from 'node:net'
import type { ApiError } from '../../http/shared/errors.ts'
import { invalidField } from '../../http/shared/validation.ts'

export const TARGET_LENGTH_MAX = 2048

/** Checks the host of a target that matches the schema. The resolved address is checked at every connection. */
export function checkTarget(text: string, allowPrivate: boolean): void {
  if (!URL.canParse(text)) throw invalidTarget('invalid_format', 'is not an address')
  if (allowPrivate) return
  // The WHATWG parser normalizes decimal, octal and hexadecimal addresses.
  const host = new URL(text).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIP(host)) throw invalidTarget('not_allowed', 'must name a host, not an address')
  if (host === 'localhost' || host.endsWith('.localhost') || !host.includes('.')) {
    throw invalidTarget('not_allowed', 'must name a host on the internet')
  }
}

function invalidTarget(code: string, message: string): ApiError {
  return invalidField('target_url', code, message)
}
