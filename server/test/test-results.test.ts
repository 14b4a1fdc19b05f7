import { join } from 'node:path'
import { expect, test } from 'vitest'
// @ts-expect-error -- plain JavaScript, because it runs before anything is built
import { readPlaywright, readPytest, readVitest } from '../../scripts/test-results.mjs'

const root = join(import.meta.dirname, '..', '..')

test('failed tests and unloadable files of Vitest are reported with their messages', () => {
  const report = {
    numPassedTests: 3,
    numPendingTests: 1,
    numTodoTests: 1,
    testResults: [
      {
        name: join(root, 'server/test/credit.test.ts'),
        status: 'failed',
        message: '',
        assertionResults: [
          { status: 'passed', fullName: 'a credit is made', failureMessages: [] },
          {
            status: 'failed',
            fullName: 'a credit is made once',
            failureMessages: ['\x1b[31mexpected 2 to be 1\x1b[39m'],
          },
        ],
      },
      {
        name: join(root, 'server/test/broken.test.ts'),
        status: 'failed',
        message: 'Cannot find module',
        assertionResults: [],
      },
    ],
  }
  expect(readVitest(JSON.stringify(report))).toEqual({
    passed: 3,
    failed: 2,
    skipped: 2,
    failures: [
      'server/test/credit.test.ts › a credit is made once\n    expected 2 to be 1',
      'server/test/broken.test.ts\n    Cannot find module',
    ],
  })
})

test('failed tests at any depth, flaky ones and errors outside tests of Playwright are reported', () => {
  const report = {
    stats: { expected: 1, unexpected: 1, flaky: 1, skipped: 0 },
    suites: [
      {
        specs: [spec('passes', 'expected'), spec('passes at times', 'flaky', 'Timed out')],
        suites: [{ specs: [spec('fails', 'unexpected', 'Not visible')] }],
      },
    ],
    errors: [{ message: 'No Chromium found' }],
  }
  expect(readPlaywright(JSON.stringify(report))).toEqual({
    passed: 1,
    failed: 3,
    skipped: 0,
    failures: [
      'server/e2e/office.spec.ts › passes at times\n    Timed out',
      'server/e2e/office.spec.ts › fails\n    Not visible',
      'server/e2e\n    No Chromium found',
    ],
  })
})

test('the totals and the names of failed tests of pytest are reported', () => {
  const report =
    '<testsuites><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="5" time="0.1">' +
    '<testcase classname="tests.test_client" name="test_passes" time="0.1" />' +
    '<testcase classname="tests.test_client" name="test_fails" time="0.1"><failure message="m">x</failure></testcase>' +
    '<testcase classname="tests.test_token" name="test_breaks" time="0.1"><error message="m">x</error></testcase>' +
    '<testcase classname="tests.test_token" name="test_skips" time="0.1"><skipped message="m">x</skipped></testcase>' +
    '</testsuite></testsuites>'
  expect(readPytest(report)).toEqual({
    passed: 2,
    failed: 2,
    skipped: 1,
    failures: ['client-python: tests.test_client › test_fails', 'client-python: tests.test_token › test_breaks'],
  })
})

function spec(title: string, status: string, message?: string) {
  const errors = message ? [{ message }] : []
  return { file: 'office.spec.ts', title, ok: status !== 'unexpected', tests: [{ status, results: [{ errors }] }] }
}
