import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MUTANTS } from '../proof/mutants/all.ts'

const MUTANTS_MIN = 100

/** The list must not rot: a mutant that no longer fits the source proves nothing. */
test('every mutant fits the source, and names tests that exist', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(MUTANTS_MIN)
  expect(new Set(MUTANTS.map(({ breaks }) => breaks)).size).toBe(MUTANTS.length)
  for (const { breaks, file, replace, by, tests, named } of MUTANTS) {
    const source = readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8')
    expect(source.split(replace).length - 1, `${breaks}: occurrences in ${file}`).toBe(1)
    expect(by, breaks).not.toBe(replace)
    const files = tests.map((name) => new URL(`${name}.test.ts`, import.meta.url))
    for (const path of files) expect(existsSync(path), path.pathname).toBe(true)
    const titles = files.map((path) => readFileSync(path, 'utf8')).join('\n')
    if (named) expect(titles, `${breaks}: its test`).toMatch(new RegExp(named))
  }
})
