/** The languages that a person or a community can choose. */
export type LanguageCode = 'en' | 'de' | 'es' | 'fr' | 'ar'

interface About {
  /** Its own name, for those who do not understand the language that is shown. */
  name: string
  dir: 'ltr' | 'rtl'
  /** By which numbers, dates and names are written and sorted. */
  formats: string
}

export const LANGUAGES: Record<LanguageCode, About> = {
  en: { name: 'English', dir: 'ltr', formats: 'en-GB' },
  de: { name: 'Deutsch', dir: 'ltr', formats: 'de' },
  es: { name: 'Español', dir: 'ltr', formats: 'es' },
  fr: { name: 'Français', dir: 'ltr', formats: 'fr' },
  ar: { name: 'العربية', dir: 'rtl', formats: 'ar-EG' },
}

/** English in disguise, for tests of layouts; see docs/translating.md. */
export const PSEUDO = 'en-XA'

export type ShownLanguage = LanguageCode | typeof PSEUDO

export function aboutLanguage(language: ShownLanguage): About {
  return language === PSEUDO ? LANGUAGES.en : LANGUAGES[language]
}

/** The first of the tags (`de-AT`) whose language the console has. */
export function firstKnown(tags: readonly (string | null | undefined)[]): ShownLanguage | undefined {
  for (const tag of tags) {
    if (tag === PSEUDO) return PSEUDO
    const code = tag?.split('-')[0]?.toLowerCase()
    if (code && code in LANGUAGES) return code as LanguageCode
  }
  return undefined
}
