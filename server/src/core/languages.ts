/** The languages of the console and of the service's mails. */
export const LANGUAGES = ['en', 'de', 'es', 'fr', 'ar'] as const

export type Language = (typeof LANGUAGES)[number]
