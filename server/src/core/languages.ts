/** The languages of the console, of mails and of printed statements. */
export const LANGUAGES = ['en', 'de', 'es', 'fr', 'ar'] as const

export type Language = (typeof LANGUAGES)[number]

/** By which numbers and dates are written. */
export const FORMATS: Record<Language, string> = { en: 'en-GB', de: 'de', es: 'es', fr: 'fr', ar: 'ar-EG' }

/** The language of a tag such as `de-AT`; English for one that is not translated into. */
export function toLanguage(tag: string | null | undefined): Language {
  const [code] = (tag ?? '').toLowerCase().split('-')
  return LANGUAGES.find((language) => language === code) ?? 'en'
}
