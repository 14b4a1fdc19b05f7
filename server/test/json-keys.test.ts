import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { BODY_BYTES_MAX } from '../src/http/partner/frame.ts'
import { repeatsKey } from '../src/http/shared/json-keys.ts'

const check = (text: string) => repeatsKey(text, JSON.parse(text))

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '{"é":1,"\\u00e9":2}',
  '{"":0,"":0}',
  '{"a":{"b":1,"c":[{"d":1,"d":2}]}}',
  '{"a":{"b":1},"a":{"c":1}}',
  '{"a":{"b":1,"b":1},"a":1}',
  '{"1":1,"1":1}',
  '[[{"a":":","a":":"}]]',
  ' { "a" : 1 , "b" : 2 , "a" : 3 } ',
  '{"\\"":1,"\\"":1}',
  '{"\\\\":1,"\\\\":1}',
])('finds the repeated key in %s', (text) => {
  expect(check(text)).toBe(true)
})

test.each([
  '{}',
  '[]',
  'null',
  '1',
  '":"',
  '"\\":"',
  '{"a":1,"A":2}',
  '{"a":{"a":{"a":1}}}',
  '[{"a":1},{"a":1}]',
  '{"a":"a\\":\\"","b":":::"}',
  '{"a\\\\":1,"a":"\\\\"}',
  '{"é":1,"e\u0301":2}',
  '{"1":1,"01":1,"1.0":1}',
  '{"toString":1,"hasOwnProperty":2,"length":3}',
])('finds no repeated key in %s', (text) => {
  expect(check(text)).toBe(false)
})

test('any JSON value is free of repeated keys until a member is written twice', () => {
  fc.assert(
    fc.property(fc.json(), fc.string(), fc.json(), fc.json(), (value, key, one, other) => {
      expect(check(value)).toBe(false)
      const name = JSON.stringify(key)
      const escaped = `"${[...Array(key.length).keys()].map((at) => escape(key.charCodeAt(at))).join('')}"`
      expect(check(`[${value},{${name}:${one},"other ${key.length}":${other}}]`)).toBe(false)
      expect(check(`[${value},{${name}:${one},${escaped}:${other}}]`)).toBe(true)
    }),
  )
})

const escape = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`

test('the deepest and the widest bodies are checked without overflow', () => {
  const depth = BODY_BYTES_MAX / 2
  expect(check('['.repeat(depth) + ']'.repeat(depth))).toBe(false)
  const nested = Math.floor(BODY_BYTES_MAX / 6)
  expect(check(`${'{"a":'.repeat(nested)}1${'}'.repeat(nested)}`)).toBe(false)
  const wide = Array.from({ length: 6_000 }, (_, n) => `"${n}":1`)
  expect(check(`{${wide.join(',')}}`)).toBe(false)
  expect(check(`{${[...wide, '"0":1'].join(',')}}`)).toBe(true)
  expect(check(`{"a":"${'\\'.repeat(BODY_BYTES_MAX / 2)}"}`)).toBe(false)
})
