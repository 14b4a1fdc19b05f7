// `npm test`: everything. `npm test -- oauth`: only the test files whose names match, without browser, lint and types.
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare } from './prepare.mjs'
import { preparePython } from './python.mjs'
import { endOnFailure, Failure, root, run } from './run.mjs'
import { requirePrograms } from './system-packages.mjs'
import { readPlaywright, readPytest, readVitest } from './test-results.mjs'

/** What is type-checked, each with a tsconfig.json of its own. */
const PARTS = [
  'server',
  'client',
  'console',
  'bench',
  'examples/bank-settlement',
  'examples/community-dashboard',
  'examples/webhook-receiver',
]

const OXLINT = 'node_modules/oxlint/bin/oxlint'
const PLAYWRIGHT = 'node_modules/@playwright/test/cli.js'
const PRETTIER = 'node_modules/prettier/bin/prettier.cjs'
const TSC = 'node_modules/typescript/bin/tsc'
const VITEST = 'node_modules/vitest/vitest.mjs'

/** A test's database is a copy of 1,300 files: 11 ms in memory, 200 ms on disk. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 6 * 2 ** 30

const selection = process.argv.slice(2)
const everything = selection.length === 0
// Everything that the run writes, removed at its end even if a test was killed.
const folder = mkdtempSync(join(hasRoomInMemory() ? MEMORY : tmpdir(), 'hourbank-test-'))
// Like /tmp itself: some tests run programs as other users.
chmodSync(folder, 0o1777)
process.env.TMPDIR = folder
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const vitestReport = join(folder, 'vitest.json')
const playwrightReport = join(folder, 'playwright.json')
const pytestReport = join(folder, 'pytest.xml')

const counts = { passed: 0, failed: 0, skipped: 0 }
/** The texts of what failed, which the last lines repeat. */
const failures = []

await endOnFailure(async () => {
  await prepare()
  await requirePrograms(['redis-server', 'pgbouncer', ...(everything ? ['chromium'] : [])])
  // Otherwise these tests are skipped without it.
  if (selection.includes('cluster')) await requirePrograms(['pg_basebackup'])

  const python = everything ? await preparePython() : undefined

  // Beside the tests, which spend part of their time waiting.
  const besides = everything ? [runChecks(), runBrowserTests(), runPythonTests(python)] : []
  const codes = (await Promise.all([runTests(), ...besides])).flat()
  printResults()
  const failure = codes.find((code) => code !== 0)
  if (failure) throw new Failure('', failure)
})

function hasRoomInMemory() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, freemem()) > MEMORY_BYTES_MIN
  } catch {
    return false
  }
}

function runTests() {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${vitestReport}`]
  return step('Tests', [VITEST, 'run', '-c', 'server/vitest.config.ts', ...reporters, ...selection], {
    readResults: () => readVitest(readFileSync(vitestReport, 'utf8')),
    isShownLive: true,
  })
}

function runBrowserTests() {
  return step('Browser tests', [PLAYWRIGHT, 'test', '-c', 'server/playwright.config.ts', '--reporter=list,json'], {
    env: { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: playwrightReport },
    readResults: () => readPlaywright(readFileSync(playwrightReport, 'utf8')),
  })
}

/** Without Python nothing else is at fault: these tests are reported as skipped. */
async function runPythonTests(python) {
  if (!python) {
    console.log('- Python SDK: skipped. Its tests need Python 3.10 or newer with venv (on Debian: python3-venv).')
    counts.skipped += 1
    return 0
  }
  const options = { program: python, cwd: join(root, 'client-python') }
  const types = await step('Types of the Python SDK', ['-m', 'mypy', '-p', 'hourbank'], options)
  const tests = await step('Python SDK', ['-m', 'pytest', '-q', `--junitxml=${pytestReport}`], {
    ...options,
    readResults: () => readPytest(readFileSync(pytestReport, 'utf8')),
  })
  return [types, tests]
}

/** One after the other: each uses several cores by itself. */
async function runChecks() {
  return [
    await step('Lint', [OXLINT, '--deny-warnings']),
    await step('Imports', ['scripts/check-imports.mjs']),
    await step('SQL', ['scripts/check-sql.mjs']),
    // Both skip what has not changed since the last run.
    await step('Types', [TSC, '-b', '--incremental', ...PARTS]),
    await step('Format', [PRETTIER, '--check', '--cache', '.']),
  ]
}

/** Runs one program and returns its exit code. Only one can be shown live; the output of others follows when they end. */
async function step(name, command, options = {}) {
  const { program = process.execPath, cwd = root, env = process.env, readResults, isShownLive = false } = options
  const startedAt = performance.now()
  const outputFile = join(folder, `${name}.txt`)
  const output = isShownLive ? 'inherit' : openSync(outputFile, 'w')
  const code = await run(program, command, { cwd, env, stdout: output, stderr: output })
  const took = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  const results = readResults ? tryTo(readResults) : undefined
  if (results) add(results)

  if (!isShownLive) process.stdout.write(`\n${readFileSync(outputFile, 'utf8')}`)
  const hasResults = !readResults || results
  if (code === 0 && hasResults) {
    console.log(`✓ ${name} (${took})`)
    return 0
  }
  const outcome = `${name}: exit code ${code}${hasResults ? '' : ', no results'} (${took})`
  console.log(`✗ ${outcome}`)
  if (!results?.failed) failures.push(outcome)
  return code || 1
}

function tryTo(work) {
  try {
    return work()
  } catch {
    return undefined
  }
}

function add(results) {
  for (const name of ['passed', 'failed', 'skipped']) counts[name] += results[name]
  failures.push(...results.failures)
}

/** Of the hundred thousand characters before, these are the ones that somebody has to read. */
function printResults() {
  for (const failure of failures) console.log(`\n✗ ${failure}`)
  if (failures.length > 0) console.log('')
  if (counts.skipped > 0) console.log(`${counts.skipped} skipped`)
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
}
