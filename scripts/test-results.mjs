// What the reports of the test runners say. They are JSON or XML: what a runner prints is for people and changes between
// versions. Every reader returns `{ passed, failed, skipped, failures }`; a failure is the text to show for it.
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { root } from './run.mjs'

/** Enough for an assertion with its difference and the beginning of its stack; the whole text is further up. */
const LINES_OF_FAILURE = 16

export function readVitest(report) {
  const { numPassedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(report)
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name)
    // A file that cannot even be loaded has no tests, and is a failure all the same.
    if (status === 'failed' && assertionResults.length === 0) return [describe(file, message)]
    return assertionResults
      .filter((it) => it.status === 'failed')
      .map((it) => describe(`${file} › ${it.fullName}`, it.failureMessages[0]))
  })
  return { passed: numPassedTests, failed: failures.length, skipped: numPendingTests + numTodoTests, failures }
}

export function readPlaywright(report) {
  const { stats, suites, errors } = JSON.parse(report)
  const failures = [
    ...specsIn(suites)
      .filter(({ ok, tests }) => !ok || tests.some((it) => it.status === 'flaky'))
      .map(({ file, title, tests }) => describe(`server/e2e/${file} › ${title}`, firstError(tests))),
    // Errors outside any test, such as a file that cannot be loaded.
    ...errors.map(({ message }) => describe('server/e2e', message)),
  ]
  return { passed: stats.expected, failed: failures.length, skipped: stats.skipped, failures }
}

function specsIn(suites = []) {
  return suites.flatMap((suite) => [...suite.specs, ...specsIn(suite.suites)])
}

function firstError(tests) {
  const errors = tests.flatMap((test) => test.results.flatMap((result) => result.errors))
  return errors[0]?.message
}

/** The totals are attributes of the report: tests="…" errors="…" … */
export function readPytest(report) {
  const [tests, failed, errors, skipped] = ['tests', 'failures', 'errors', 'skipped'].map((name) => {
    const [, total] = new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(report)
    return Number(total)
  })
  const failures = report
    .split('<testcase ')
    .slice(1)
    .filter((testcase) => /<(failure|error)\b/.test(testcase))
    .map((testcase) => {
      const [, file, name] = /classname="([^"]*)" name="([^"]*)"/.exec(testcase)
      return describe(`client-python: ${file} › ${name}`)
    })
  return { passed: tests - failed - errors - skipped, failed: failed + errors, skipped, failures }
}

function describe(title, message = '') {
  const lines = stripVTControlCharacters(message).trim().split('\n').slice(0, LINES_OF_FAILURE)
  return [title, ...lines.filter(Boolean).map((line) => `    ${line}`)].join('\n')
}
