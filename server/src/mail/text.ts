import { toLanguage, type Language } from '../core/languages.ts'
import type { Mail } from './mailer.ts'
import type { MailText } from './words/shape.ts'

/** Whom a mail is for, and in which language. */
export interface Recipient {
  email: string
  language: Language
}

export function toRecipient({ email, language }: { email: string; language: string | null | undefined }): Recipient {
  return { email, language: toLanguage(language) }
}

/** Names are chosen by others: they must not look like further lines of the mail. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 200)
}

export function toMail({ email, language }: Recipient, { subject, text }: MailText): Mail {
  return { to: email, subject, text: `${text.join('\n\n')}\n`, headers: { 'content-language': language } }
}
