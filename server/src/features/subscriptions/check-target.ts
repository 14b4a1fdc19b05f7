import { isIP } from 'node:net'
import type { ApiError } from '../../http/shared/errors.ts'
import { invalidField } from '../../http/shared/validation.ts'

export const TARGET_LENGTH_MAX = 2048

/** Checks the host of a target that has the form of the schema. Its name is resolved at every connection. */
export function checkTarget(text: string, allowPrivate: boolean): void {
  if (!URL.canParse(text)) throw refuse('invalid_format', 'is not an address')
  if (allowPrivate) return
  // WHATWG's parser has brought every spelling (decimal, octal, hex) into the usual form.
  const host = new URL(text).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIP(host)) throw refuse('not_allowed', 'must name a host, not an address')
  if (host === 'localhost' || host.endsWith('.localhost') || !host.includes('.')) {
    throw refuse('not_allowed', 'must name a host on the internet')
  }
}

function refuse(code: string, message: string): ApiError {
  return invalidField('target_url', code, message)
}
