import { expect, test } from 'vitest'

/** Loaded by address: its types need a browser's. */
const READ_HOURS = new URL('../../console/src/parts/read-hours.ts', import.meta.url).href

const { readNumber, readHours } = (await import(READ_HOURS)) as {
  readNumber(text: string): number | undefined
  readHours(text: string): number | undefined
}

test.each([
  ['1,5', 1.5],
  ['1.50', 1.5],
  ['١٫٥', 1.5],
  ['2 000', 2000],
  [' 1\u202F234\u202F567,5 ', 1_234_567.5],
  ['\u221212', -12],
  ['\u061C-١٢', -12],
  // A thousand to some people, and one to others.
  ['1,000', undefined],
  ['1.000', undefined],
  ['١٬٠٠٠', undefined],
  ['', undefined],
  ['1 5', undefined],
  ['1,5 h', undefined],
  ['1e3', undefined],
])('a number typed as %s is read as %s', (text, number) => {
  expect(readNumber(text)).toBe(number)
})

test('hours of an exchange are more than none and less than a million', () => {
  expect(['0', '-1', '0.25', '999999', '1000000'].map(readHours)).toEqual([
    undefined,
    undefined,
    0.25,
    999999,
    undefined,
  ])
})
