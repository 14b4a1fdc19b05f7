import { isCleanText } from '../../core/texts.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Queries } from '../../postgres/connect.ts'
import { isKnownTimeZone } from './queries.ts'

const NAME_LENGTH_MAX = 200
const LANGUAGE_LENGTH_MAX = 35
/** They mean the same to JavaScript and PostgreSQL. */
const FIXED = /^(UTC|GMT)$/i
/**
 * PostgreSQL reads offsets like +02:00 with the opposite sign, and abbreviations like IST as other places than JavaScript
 * does, or not at all.
 */
const PLACE = /^[A-Za-z].*\//

export function checkCommunityName(text: string, field = 'name'): string {
  const name = text.trim()
  if (!name || name.length > NAME_LENGTH_MAX || !isCleanText(name)) {
    throw new Refusal(because('name_length', { max: NAME_LENGTH_MAX }), { field })
  }
  return name
}

/** PostgreSQL must know it too: with another list of zones, it could not tell what day it is in the community. */
export async function checkTimeZone(sql: Queries, timeZone: string): Promise<string> {
  const isKnown = FIXED.test(timeZone) || (isTimeZone(timeZone) && (await isKnownTimeZone(sql, timeZone)))
  if (!isKnown) {
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
    return PLACE.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
