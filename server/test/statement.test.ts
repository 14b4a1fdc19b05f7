import { expect, test } from 'vitest'
import { commaSeparated, compile, Fragment, identifier, type Value } from '../src/postgres/statement.ts'

const sql = (strings: TemplateStringsArray, ...values: (Value | Fragment)[]) => new Fragment(strings, values)

test('a template has the text of the fragments that it is given, whichever it had before', () => {
  const [byId, byName] = [sql`order by id`, sql`order by name`]
  const list = (order: Fragment, limit: number) => compile(sql`select from members ${order} limit ${limit}`)
  const texts = [byId, byName, byName, byId].map((order, limit) => list(order, limit))
  expect(texts.map(({ text, values }) => ({ text, values }))).toEqual([
    { text: 'select from members order by id limit $1', values: [0] },
    { text: 'select from members order by name limit $1', values: [1] },
    { text: 'select from members order by name limit $1', values: [2] },
    { text: 'select from members order by id limit $1', values: [3] },
  ])
  expect(texts[0]!.name).toBe(texts[3]!.name)
  expect(texts[1]!.name).not.toBe(texts[0]!.name)
})

const setDay = (day: Value | Fragment) => compile(sql`update members set joined_at = ${day} where id = ${7}`)

test('a fragment is told from a parameter in the same place', () => {
  for (const [value, text, values] of [
    [sql`now()`, 'update members set joined_at = now() where id = $1', [7]],
    ['2026-01-01', 'update members set joined_at = $1 where id = $2', ['2026-01-01', 7]],
    [sql`now()`, 'update members set joined_at = now() where id = $1', [7]],
  ] as const) {
    expect(setDay(value)).toMatchObject({ text, values })
  }
})

test('the same nested fragment with other parameters is sent with those', () => {
  const find = (name: string) => compile(sql`select from members where ${sql`name = ${name}`} and id > ${1}`)
  expect([find('Ada'), find('Ben')].map(({ values }) => values)).toEqual([
    ['Ada', 1],
    ['Ben', 1],
  ])
  const nested = sql`name = ${'Ada'}`
  const outer = (fragment: Fragment) => compile(sql`select from members where ${fragment}`)
  expect([outer(nested), outer(nested)].map(({ text, values }) => [text, values])).toEqual(
    Array.from({ length: 2 }, () => ['select from members where name = $1', ['Ada']]),
  )
})

test('columns are separated by commas, with their parameters', () => {
  const columns = compile(sql`select ${commaSeparated([identifier('m.id'), identifier('m.name')])} from members m`)
  expect(columns.text).toBe('select "m"."id", "m"."name" from members m')
  const values = compile(sql`select ${commaSeparated([sql`${1}::int8`, sql`now()`])}`)
  expect([values.text, values.values]).toEqual(['select $1::int8, now()', [1]])
})
