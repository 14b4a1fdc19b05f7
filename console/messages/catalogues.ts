import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage'
import { generateMessageId } from '@lingui/message-utils/generateMessageId'
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import PO from 'pofile'
import type { Message } from './message.ts'
import { pseudoText } from './pseudo.ts'

const FOLDER = join(import.meta.dirname, '..', 'locales')

/** English is in the code; these have a folder each in `console/locales`. */
export const TRANSLATED = ['de', 'es', 'fr', 'ar'] as const
export const PSEUDO = 'en-XA'
const NO_BREAK_SPACE = '\u00A0'
export const LANGUAGES = ['en', ...TRANSLATED, PSEUDO]

export function catalogueFile(language: string, area: string): string {
  return join(FOLDER, language, `${area}.po`)
}

/** The areas of which a language has a file. */
export async function catalogueFiles(language: string): Promise<string[]> {
  const names = await readdir(join(FOLDER, language))
  return names.map((name) => name.replace(/\.po$/, ''))
}

/** The translations of an area by message id; an empty map if nobody has begun. */
export async function readTranslations(language: string, area: string): Promise<Map<string, string>> {
  const text = await readFile(catalogueFile(language, area), 'utf8').catch(() => '')
  const items = PO.parse(text).items.filter(({ msgid }) => msgid !== '')
  return new Map(items.map((item) => [generateMessageId(item.msgid, item.msgctxt ?? ''), item.msgstr.join('')]))
}

/** Writes what a translator edits, in the order of the English texts, so that branches merge without conflicts. */
export async function writeTranslations(
  language: string,
  area: string,
  messages: Iterable<Message>,
  translations: Map<string, string>,
): Promise<void> {
  const file = catalogueFile(language, area)
  const po = new PO()
  po.headers = { Language: language, 'Content-Type': 'text/plain; charset=UTF-8' }
  const inOrder = [...messages].toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))
  for (const { id, message, context, comment } of inOrder) {
    const item = new PO.Item()
    item.msgid = message
    if (context !== undefined) item.msgctxt = context
    if (comment !== undefined) item.extractedComments = [comment]
    item.msgstr = [translations.get(id) ?? '']
    po.items.push(item)
  }
  if (po.items.length === 0) return rm(file, { force: true })
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${po.toString().trim()}\n`)
}

function sortKey({ message, context = '' }: Message): string {
  return `${message}\u0000${context}`
}

/** French puts a space before some marks, at which no line may end. Translators type an ordinary one. */
function keepMarks(text: string): string {
  return text.replaceAll(/ (?=[?!;:»%])|(?<=«) /g, NO_BREAK_SPACE)
}

/** What the browser loads. A text that nobody has translated yet stays English; `npm test` fails for it. */
export async function compileCatalogue(
  language: string,
  area: string,
  messages: Map<string, Message>,
): Promise<string> {
  const translations = language === 'en' || language === PSEUDO ? undefined : await readTranslations(language, area)
  const mapText = { [PSEUDO]: pseudoText, fr: keepMarks }[language]
  const compiled = [...messages.values()].map(({ id, key, message }) => [
    key ?? id,
    compileMessageOrThrow(translations?.get(id) || message, mapText),
  ])
  return JSON.stringify(Object.fromEntries(compiled))
}
