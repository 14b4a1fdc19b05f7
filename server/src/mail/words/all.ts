import type { Language } from '../../core/languages.ts'
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import type { MailWords } from './shape.ts'

export const MAIL_WORDS: Record<Language, MailWords> = { en, de, es, fr, ar }
