import { describe, expect, test } from 'vitest'
import { catalogueFiles, compileCatalogue, readTranslations } from '../../console/messages/catalogues.ts'
import { findProblems, problemOf } from '../../console/messages/check.ts'
import { extractMessages } from '../../console/messages/extract.ts'
import { pseudoText } from '../../console/messages/pseudo.ts'

/** The texts of a compiled catalogue, without the names of values. */
function shownTexts(compiled: unknown): string[] {
  if (typeof compiled === 'string') return [compiled]
  if (!compiled || typeof compiled !== 'object') return []
  const parts = Array.isArray(compiled) && typeof compiled[0] === 'string' ? compiled : Object.values(compiled)
  return parts.flatMap(shownTexts)
}

test('every message of the console is translated, used, and can be shown', async () => {
  expect(await findProblems()).toEqual([])
})

test('French has no space before a mark at which a line could end', async () => {
  const texts: string[] = []
  for (const [area, messages] of await extractMessages()) {
    texts.push(...shownTexts(JSON.parse(await compileCatalogue('fr', area, messages))))
  }
  expect(texts.filter((text) => text.includes('\u00a0?')).length).toBeGreaterThan(10)
  expect(texts.filter((text) => / [?!;:»%]|« /.test(text))).toEqual([])
})

test('Spanish does not call partners what members of a time bank are called', async () => {
  const texts: string[] = []
  for (const area of await catalogueFiles('es')) texts.push(...(await readTranslations('es', area)).values())
  expect(texts.length).toBeGreaterThan(1_000)
  expect(texts.filter((text) => /\bsoci[oa]s?\b/i.test(text))).toEqual([])
})

describe('a translation is rejected', () => {
  const english = { id: '1', message: 'Remove the <0>passkey</0> {name}?' }
  const counted = { id: '2', message: '{count, plural, one {# member} other {# members}}' }

  test('that is missing or empty', () => {
    expect(problemOf('de', english, undefined)).toBe('not translated')
    expect(problemOf('de', english, '')).toBe('not translated')
  })

  test('that lacks a value or an element', () => {
    expect(problemOf('de', english, 'Den <0>Passkey</0> entfernen?')).toContain('{name}')
    expect(problemOf('de', english, '{name} entfernen?')).toContain('<0>')
    expect(problemOf('de', english, '<0>Passkey</0> {name} entfernen?')).toBeUndefined()
  })

  test('that is not valid', () => {
    expect(problemOf('de', english, '<0>Passkey</0> {name entfernen?')).toContain('not valid')
  })

  test('that lacks a plural form of the language', () => {
    const two = '{count, plural, one {# عضو} other {# عضو}}'
    expect(problemOf('ar', counted, two)).toBe('lacks the plural forms few, many, two, zero')
    expect(problemOf('de', counted, '{count, plural, one {# Mitglied} other {# Mitglieder}}')).toBeUndefined()
  })
})

test('the pseudo-locale makes a text 40 % longer and leaves its elements alone', () => {
  const text = pseudoText('Sign <0>in</0> now')
  expect(text).toContain('<0>îñ</0>')
  expect(text.replaceAll(/<\/?\d>/g, '')).toHaveLength(Math.ceil('Sign in now'.length * 1.4))
})
