import { toLanguage, type Language } from '../../core/languages.ts'

const FILE_NAME_LENGTH_MAX = 200

const WORDS: Record<Language, { alone: string; from: (fileName: string) => string }> = {
  en: { alone: 'Opening balance', from: (file) => `Opening balance from ${file}` },
  de: { alone: 'Anfangsstand', from: (file) => `Anfangsstand aus ${file}` },
  es: { alone: 'Saldo inicial', from: (file) => `Saldo inicial de ${file}` },
  fr: { alone: 'Solde initial', from: (file) => `Solde initial de ${file}` },
  ar: { alone: 'الرصيد الافتتاحي', from: (file) => `الرصيد الافتتاحي من ${file}` },
}

/** In the language of the community, because the member's statement shows it. */
export function openingReason(community: { language: string }, fileName?: string): string {
  const { alone, from } = WORDS[toLanguage(community.language)]
  return fileName === undefined ? alone : from([...fileName].slice(0, FILE_NAME_LENGTH_MAX).join(''))
}
