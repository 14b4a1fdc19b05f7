import { type NodePath, transformAsync, types } from '@babel/core'
import { type CompiledMessage, compileMessageOrThrow } from '@lingui/message-utils/compileMessage'
import { readFile } from 'node:fs/promises'
import { TRANSLATED, catalogueFiles, readTranslations } from './catalogues.ts'
import { extractMessages, sourceFiles } from './extract.ts'
import type { Message } from './message.ts'

/** Macros that look a text up at once. `msg` only names it, for later. */
const IMMEDIATE = new Set(['t', 'plural', 'select', 'selectOrdinal'])

/** A sentence for each message that is missing, unused, or translated so that it cannot be shown. */
export async function findProblems(): Promise<string[]> {
  const areas = await extractMessages()
  const problems: string[] = []
  for (const language of TRANSLATED) {
    for (const [area, messages] of areas) {
      const translations = await readTranslations(language, area)
      for (const message of messages.values()) {
        const problem = problemOf(language, message, translations.get(message.id))
        if (problem) problems.push(`${language}/${area}: ${problem}: ${message.message}`)
      }
      for (const id of translations.keys()) {
        if (!messages.has(id)) problems.push(`${language}/${area}: an entry is no longer used; run npm run messages`)
      }
    }
    for (const area of await catalogueFiles(language)) {
      if (!areas.has(area)) problems.push(`${language}/${area}: no file has messages of this area any more`)
    }
  }
  return [...problems, ...(await findTooEarly())]
}

/** What is wrong with a translation, or undefined. */
export function problemOf(language: string, { message }: Message, translation: string | undefined): string | undefined {
  if (!translation) return 'not translated'
  try {
    const english = describe(compileMessageOrThrow(message))
    const translated = describe(compileMessageOrThrow(translation))
    if (english.values !== translated.values) return `has the values ${translated.values}, not ${english.values}`
    const lacking = requiredForms(language).filter((form) => translated.plurals.some((forms) => !forms.includes(form)))
    return lacking.length > 0 ? `lacks the plural forms ${lacking.join(', ')}` : undefined
  } catch (error) {
    return `is not valid (${(error as Error).message})`
  }
}

/** Spanish and French have a form for millions, which nothing here reaches. */
function requiredForms(language: string): string[] {
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
  return pluralCategories.filter((form) => form !== 'many' || language === 'ar')
}

/** The values and tags of a message, and the forms of each plural in it. */
function describe(message: CompiledMessage) {
  const values = new Set<string>()
  const plurals: string[][] = []
  const visit = (tokens: unknown) => {
    if (!Array.isArray(tokens)) return
    for (const token of tokens) {
      if (typeof token === 'string') {
        for (const [tag] of token.matchAll(/<\d+\/?>/g)) values.add(tag)
        continue
      }
      const [name, type, choices] = token as [string, string?, Record<string, unknown>?]
      values.add(`{${name}}`)
      if (type === 'plural' && choices) plurals.push(Object.keys(choices))
      if (choices && typeof choices === 'object') Object.values(choices).forEach(visit)
    }
  }
  visit(message)
  return { values: [...values].toSorted().join(' '), plurals }
}

/** Outside a function a text would be looked up once, before its language is loaded. */
async function findTooEarly(): Promise<string[]> {
  const problems: string[] = []
  for (const file of await sourceFiles()) {
    const check = (path: NodePath<types.Identifier>) => {
      const imported = path.scope.getBinding(path.node.name)?.path
      const isMacro =
        imported?.isImportSpecifier() && (imported.parent as types.ImportDeclaration).source.value.endsWith('/macro')
      if (!isMacro || !IMMEDIATE.has(path.node.name) || path.parentPath.isImportSpecifier() || path.getFunctionParent())
        return
      problems.push(
        `${file}:${path.node.loc?.start.line}: ${path.node.name} outside a function; use msg and translate(…)`,
      )
    }
    await transformAsync(await readFile(file, 'utf8'), {
      filename: file,
      babelrc: false,
      configFile: false,
      code: false,
      parserOpts: { plugins: ['typescript', 'jsx'] },
      plugins: [{ visitor: { Identifier: check } }],
    })
  }
  return problems
}
