import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'

/** Excludes characters that separate addresses: a mail program could read a second address in the text. */
const PART = String.raw`[^\s@\p{Cc}<>()\[\]\\,;:"]`
const EMAIL = new RegExp(String.raw`^${PART}{1,64}@(?:${PART}+|\[[\w.:]+\])$`, 'u')
const EMAIL_LENGTH_MAX = 254
const NAME_LENGTH_MAX = 200

export function checkEmail(email: string): string {
  const trimmed = email.trim()
  if (!EMAIL.test(trimmed) || trimmed.length > EMAIL_LENGTH_MAX) {
    throw new Refusal(because('not_an_email', { email: trimmed }), { field: 'email' })
  }
  return trimmed
}

export function checkName(name: string): string {
  const trimmed = name.trim()
  if (!trimmed || trimmed.length > NAME_LENGTH_MAX || /\p{Cc}/u.test(trimmed)) {
    throw new Refusal(because('name_length', { max: NAME_LENGTH_MAX }), { field: 'name' })
  }
  return trimmed
}
