import { expect, test } from 'vitest'

/** Loaded by address: its types need a browser's. */
const SELECTION = new URL('../../console/src/pages/members/selection.ts', import.meta.url).href

const { idsForExport, idsForTags } = (await import(SELECTION)) as {
  idsForExport(ids: number[]): string | undefined
  idsForTags(ids: number[]): number[][]
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => 1000 + index)

test('an export of selected members is offered as long as their numbers fit into its address', () => {
  expect(idsForExport(ids(2))).toBe('1000,1001')
  expect(idsForExport(ids(1600))).toHaveLength(7999)
  expect(idsForExport(ids(1601))).toBeUndefined()
})

test('many selected members are tagged in parts that the service accepts', () => {
  expect(idsForTags(ids(1001)).map((part) => part.length)).toEqual([500, 500, 1])
  expect(idsForTags(ids(1001)).flat()).toEqual(ids(1001))
})
