import { isCleanText } from '../../http/shared/validation.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'

const NAME_LENGTH_MAX = 200
const LANGUAGE_LENGTH_MAX = 35

export function checkCommunityName(text: string, field = 'name'): string {
  const name = text.trim()
  if (!name || name.length > NAME_LENGTH_MAX || !isCleanText(name)) {
    throw new Refusal(because('name_length', { max: NAME_LENGTH_MAX }), { field })
  }
  return name
}

export function checkTimeZone(timeZone: string): string {
  if (!isTimeZone(timeZone)) {
    throw new Refusal(because('time_zone_unknown', { zone: timeZone }), { field: 'time_zone' })
  }
  return timeZone
}

/** Returns the canonical form of a BCP 47 tag like `en` or `pt-BR`. */
export function checkLanguage(text: string): string {
  try {
    const [language] = Intl.getCanonicalLocales(text.trim())
    if (language && language.length <= LANGUAGE_LENGTH_MAX) return language
  } catch {
    // Not a valid tag: rejected below.
  }
  throw new Refusal(because('language_unknown', { language: text }), { field: 'language' })
}

function isTimeZone(name: string): boolean {
  try {
    // Only names are allowed: PostgreSQL reads offsets like +02:00 with the opposite sign.
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
