import { type I18n, type Messages, setupI18n } from '@lingui/core'
import { type CompiledMessage, compileMessageOrThrow } from '@lingui/message-utils/compileMessage'
import { compileCatalogue } from '../../console/messages/catalogues.ts'
import { extractMessages } from '../../console/messages/extract.ts'
import { FORMATS, type Language } from '../src/core/languages.ts'

/** The console's words in one language, found by the English ones that a test is written in. */
export interface Words {
  language: Language
  /** 'Record 8 exchanges' → 'Enregistrer 8 échanges', in a context if it has one. Throws if the console never says this. */
  say: (english: string, context?: string) => string
  /** The same for a text on a page, where marks of direction may stand around the values. */
  see: (english: string) => string | RegExp
  /** A number as the language writes it. */
  number: (value: number) => string
  /** The numbers in a text of the language. */
  numbersIn: (text: string) => number[]
}

/** A sentence of the console as English says it in one case, for example in the plural. */
interface Phrase {
  key: string
  context: string | undefined
  pattern: RegExp
  /** How many letters are fixed: of several phrases that fit, the most precise is meant. */
  precision: number
  /** For each captured text, the value that it is, and whether it is a number that decides the form. */
  captures: { name: string; isCount: boolean }[]
  /** Values that the case itself decides. */
  given: Record<string, string>
}

type Token = string | [name: string, type?: string, choices?: Record<string, Token[] | string>]

const MARKS = String.raw`[\u2066-\u2069\u200E\u200F\u061C]*`

export async function wordsIn(language: Language): Promise<Words> {
  const locale = FORMATS[language]
  const format = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
  const number = (value: number) => format.format(value)
  const numbersIn = (text: string) => readNumbers(text, locale)
  if (language === 'en') return { language, say: (english) => english, see: (english) => english, number, numbersIn }
  const phrases = await readPhrases()
  const i18n = await loadWords(language)

  function say(english: string, context?: string): string {
    const said = translate(english, context)
    if (said === undefined) throw new Error(`The console never says “${english}”.`)
    return said
  }

  function translate(english: string, context?: string): string | undefined {
    const text = plain(english)
    for (const { key, pattern, captures, given, ...phrase } of phrases) {
      const found = pattern.exec(text)
      if (!found || (context !== undefined && phrase.context !== context)) continue
      const values = captures.map(({ name, isCount }, n) => {
        const value = found[n + 1]!
        return [name, isCount ? toNumber(value) : valueOf(value)]
      })
      return i18n._(key, { ...given, ...Object.fromEntries(values) })
    }
    return undefined
  }

  /** Within a sentence: a number, something that the console says itself, or a name that somebody typed. */
  function valueOf(text: string): string {
    return /^[-+]?[\d,]+(\.\d+)?$/.test(text) ? number(toNumber(text)) : (translate(text) ?? text)
  }

  const see = (english: string) =>
    new RegExp(
      [...plain(say(english))].map((letter) => (letter === ' ' ? String.raw`\s` : escape(letter))).join(MARKS),
      'u',
    )
  return { language, say, see, number, numbersIn }
}

async function readPhrases(): Promise<Phrase[]> {
  const areas = [...(await extractMessages()).values()]
  const messages = areas.flatMap((area) => [...area.values()])
  const phrases = messages.flatMap(({ id, key = id, message, context }) =>
    toPhrases({ key, context }, compileMessageOrThrow(message)),
  )
  return phrases.filter(({ precision }) => precision > 0).toSorted((one, other) => other.precision - one.precision)
}

async function loadWords(language: Language): Promise<I18n> {
  const areas = await extractMessages()
  const parts = await Promise.all([...areas].map(([area, messages]) => compileCatalogue(language, area, messages)))
  const messages = Object.assign({}, ...parts.map((part) => JSON.parse(part) as Messages)) as Messages
  return setupI18n({ locale: language, locales: FORMATS[language], messages: { [language]: messages } })
}

function toPhrases(of: Pick<Phrase, 'key' | 'context'>, message: CompiledMessage): Phrase[] {
  const cases = expand(typeof message === 'string' ? [message] : (message as Token[]))
  return cases.map(({ source, precision, captures, given }) => ({
    ...of,
    pattern: new RegExp(`^${source}$`, 'u'),
    precision,
    captures,
    given,
  }))
}

type Case = Pick<Phrase, 'precision' | 'captures' | 'given'> & { source: string }

const NOTHING: Case = { source: '', precision: 0, captures: [], given: {} }

/** Every case of a message: one per form of a plural, one per word of a select. */
function expand(tokens: Token[], counted?: string): Case[] {
  return tokens.reduce<Case[]>(
    (before, token) => before.flatMap((start) => casesOf(token, counted).map((end) => join(start, end))),
    [NOTHING],
  )
}

function casesOf(token: Token, counted: string | undefined): Case[] {
  if (token === '#') return [capture(counted ?? '#', true)]
  if (typeof token === 'string') {
    const text = plain(token.replaceAll(/<\/?\d+\/?>/g, ''))
    return [{ ...NOTHING, source: escape(text), precision: text.length }]
  }
  const [name, type, choices] = token
  if (!choices || typeof choices === 'string') return [capture(name, type === 'number')]
  return (
    Object.entries(choices)
      // Beside the forms stands an offset, which nothing here uses.
      .filter(([word]) => word !== 'offset')
      .flatMap(([word, choice]) =>
        expand(typeof choice === 'string' ? [choice] : choice, type === 'plural' ? name : counted).map((one) => ({
          ...one,
          given: { ...one.given, ...givenBy(name, type, word) },
        })),
      )
  )
}

/** 'One exchange recorded' does not name its number. */
function givenBy(name: string, type: string | undefined, word: string): Record<string, string> {
  if (type !== 'plural') return { [name]: word }
  if (/^\d+$/.test(word)) return { [name]: word }
  return word === 'one' ? { [name]: '1' } : {}
}

function capture(name: string, isCount: boolean): Case {
  return { ...NOTHING, source: isCount ? '([-+]?[\\d,.]+)' : '(.+?)', captures: [{ name, isCount }] }
}

function join(one: Case, other: Case): Case {
  return {
    source: one.source + other.source,
    precision: one.precision + other.precision,
    captures: [...one.captures, ...other.captures],
    given: { ...one.given, ...other.given },
  }
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
}

/** As a browser's names are compared: one kind of space, no marks of direction. */
function plain(text: string): string {
  return text.replaceAll(/[\u00A0\u202F]/g, ' ').replaceAll(/[\u2066-\u2069\u200E\u200F\u061C]/g, '')
}

function toNumber(english: string): number {
  return Number(english.replaceAll(',', ''))
}

function readNumbers(text: string, locale: string): number[] {
  const digits = new Intl.NumberFormat(locale, { useGrouping: false }).format(9_876_543_210)
  const point = new Intl.NumberFormat(locale).formatToParts(0.5).find(({ type }) => type === 'decimal')!.value
  const group = new Intl.NumberFormat(locale).formatToParts(1e6).find(({ type }) => type === 'group')!.value
  const western = [...plain(text)]
    .filter((letter) => letter !== group)
    .map((letter) => {
      const place = [...digits].indexOf(letter)
      return place >= 0 ? String(9 - place) : letter === point ? '.' : letter
    })
    .join('')
  return [...western.matchAll(/[-+\u2212]?\d+(?:\.\d+)?/g)].map(([found]) => Number(found.replace('\u2212', '-')))
}
