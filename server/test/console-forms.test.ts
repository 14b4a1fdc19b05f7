import { expect, test } from 'vitest'

/** Loaded by address: its types need a browser's. */
const FORM_VALUES = new URL('../../console/src/parts/form-values.ts', import.meta.url).href

const { errorsThatStay, withPath } = (await import(FORM_VALUES)) as {
  errorsThatStay(errors: Record<string, string>, before: unknown, after: unknown): Record<string, string>
  withPath(values: unknown, path: string[], value: unknown): unknown
}

const row = (hours: string) => ({ hours, giver_id: { id: 1, text: 'Ada' } })
const before = { slips: [row('1'), row('1'), row('x')], reason: '' }
const errors = { 'slips.1': 'the same as slip 1', 'slips.2.hours': 'no hours', reason: 'say why' }

test('an error of a row does not stay at its place when another row moves there', () => {
  const after = { ...before, slips: [before.slips[0], before.slips[2]] }
  expect(errorsThatStay(errors, before, after)).toEqual({ reason: 'say why' })
})

test('an error of a row goes with a change of any of its fields, and those of the others stay', () => {
  const { 'slips.1': _gone, ...others } = errors
  expect(errorsThatStay(errors, before, withPath(before, ['slips', '1', 'hours'], '2'))).toEqual(others)
})

test('a further row changes no error', () => {
  expect(errorsThatStay(errors, before, { ...before, slips: [...before.slips, row('')] })).toEqual(errors)
})
