import { expect, test } from 'vitest'
// @ts-expect-error -- plain JavaScript, because lint runs it before anything is built
import { findMisplacedSql } from '../../scripts/check-sql.mjs'

function check(files: Record<string, string>, listed: string[] = []): string[] {
  return findMisplacedSql(listed, Object.keys(files), (file: string) => files[file])
}

test('SQL is allowed in query files, in listed files and in the folders of the database', () => {
  const files = {
    'features/members/queries.ts': 'await sql`select 1`',
    'features/members/admin-queries.ts': 'await sql`select 1`',
    'features/wallet/insert-credits.ts': 'await tx`insert into credits`',
    'postgres/clock.ts': 'await sql`select now()`',
    'features/members/add-member.ts': '// Runs in `tx`.\nthrow new Refusal(`There is no ${noun}.`)',
  }
  expect(check(files, ['features/wallet/insert-credits.ts'])).toEqual([])
})

test.each([
  'await deps.sql`select 1`',
  'await fileSql`select 1`',
  'const [row] = await tx<\n  { id: number }[]\n>`select id from members`',
  "await tx.unsafe('truncate members')",
])('SQL in a rule is reported: %j', (text) => {
  expect(check({ 'features/members/add-member.ts': text })).toEqual([
    'features/members/add-member.ts contains SQL. Move it to a queries.ts.',
  ])
})

test('a listed file without SQL is reported', () => {
  expect(check({ 'features/events/record.ts': '' }, ['features/events/record.ts'])).toEqual([
    'features/events/record.ts contains no SQL. Remove it from the list in scripts/check-sql.mjs.',
  ])
})
