import { describe, expect, test } from 'vitest'
import { findProblems, problemOf } from '../../console/messages/check.ts'
import { pseudoText } from '../../console/messages/pseudo.ts'

test('every message of the console is translated, used, and can be shown', async () => {
  expect(await findProblems()).toEqual([])
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
