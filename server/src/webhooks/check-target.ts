import { isIP } from 'node:net'
import type { ApiError } from '../http/errors.ts'
import { invalidField } from '../http/validation.ts'

export const TARGET_LENGTH_MAX = 2048

/** What can be said of a target without resolving its name: that is done at every connection. */
export function checkTarget(text: string, allowPrivate: boolean): void {
  // The parser forgives much (spaces around, no slashes, backslashes); what is stored is what was meant.
  if (!/^https:\/\/[^\s\\]+$/i.test(text)) throw refuse('invalid_format', 'must begin with https:// and hold no spaces')
  if (!URL.canParse(text)) throw refuse('invalid_format', 'is not an address')
  const target = new URL(text)
  if (target.username || target.password) throw refuse('not_allowed', 'must not hold credentials')
  if (text.includes('#')) throw refuse('not_allowed', 'must not hold a fragment')
  if (allowPrivate) return
  // WHATWG's parser has brought every spelling (decimal, octal, hex) into the usual form.
  const host = target.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIP(host)) throw refuse('not_allowed', 'must name a host, not an address')
  if (host === 'localhost' || host.endsWith('.localhost') || !host.includes('.')) {
    throw refuse('not_allowed', 'must name a host on the internet')
  }
}

function refuse(code: string, message: string): ApiError {
  return invalidField('target_url', code, message)
}
