import type { Language } from '../wire.ts'

interface About {
  /** Its own name, for those who do not understand the language that is shown. */
  name: string
  dir: 'ltr' | 'rtl'
  /** By which numbers, dates and names are written and sorted. */
  formats: string
}

export const LANGUAGES: Record<Language, About> = {
  en: { name: 'English', dir: 'ltr', formats: 'en-GB' },
  de: { name: 'Deutsch', dir: 'ltr', formats: 'de' },
  es: { name: 'Español', dir: 'ltr', formats: 'es' },
  fr: { name: 'Français', dir: 'ltr', formats: 'fr' },
  ar: { name: 'العربية', dir: 'rtl', formats: 'ar-EG' },
}

/** English in disguise, for tests of layouts; see docs/translating.md. */
export const PSEUDO = 'en-XA'

export type ShownLanguage = Language | typeof PSEUDO

export function aboutLanguage(language: ShownLanguage): About {
  return language === PSEUDO ? LANGUAGES.en : LANGUAGES[language]
}

/** The first of the tags (`de-AT`) whose language the console has. */
export function firstKnown(tags: readonly (string | null | undefined)[]): ShownLanguage | undefined {
  for (const tag of tags) {
    if (tag === PSEUDO) return PSEUDO
    const code = tag?.split('-')[0]?.toLowerCase()
    if (code && code in LANGUAGES) return code as Language
  }
  return undefined
}

/** For a field: each language under its own name. */
export const LANGUAGE_CHOICES = Object.entries(LANGUAGES).map(([value, { name }]) => ({ value, label: name }))

export function languageName(tag: string): string {
  return LANGUAGES[tag as Language]?.name ?? tag
}
