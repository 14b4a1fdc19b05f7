/*
 * `npm run test:mutants`: breaks one promise at a time in a copy of the tree, and runs the nearest tests. Each break must
 * make a test fail. With arguments, only mutants whose description or file contains one of them. The tests run once
 * without a mutant before, unless --trust-tests says that they have passed.
 *
 * One Vitest serves all mutants: it keeps the database and the modules that a mutant does not concern.
 */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest, type TestModule, type Vitest } from 'vitest/node'
import { MUTANTS } from './mutants/all.ts'
import type { Mutant } from './mutants/mutant.ts'

const REPO = fileURLToPath(new URL('../..', import.meta.url))
const KILLED_SHARE_MIN = 0.95
/** A test that waits for what a mutant prevents is killed sooner than in `npm test`. */
const TEST_TIMEOUT_MS = 90_000
/** Neither part of the sources nor needed by the tests. */
const LEFT_OUT = new Set(['node_modules', 'dist', '.git', '.data', '.venv', 'test-results', 'playwright-report'])

type Fate = { kind: 'killed'; by: string } | { kind: 'survived' } | { kind: 'invalid'; reason: string }

const areTestsTrusted = process.argv.includes('--trust-tests')
const wanted = process.argv.slice(2).filter((text) => text !== '--trust-tests')
const chosen = MUTANTS.filter(
  ({ breaks, file }) => wanted.length === 0 || wanted.some((text) => breaks.includes(text) || file.includes(text)),
)
let isStopped = false
process.exitCode = await main()

async function main(): Promise<number> {
  const copy = await copyTree()
  const vitest = await openVitest(copy)
  stopInOrder()
  try {
    const broken = areTestsTrusted ? [] : await findBrokenTests(vitest, copy)
    if (broken.length > 0) {
      console.error(`These tests fail without any mutant, so they prove nothing:\n${broken.join('\n')}`)
      return 1
    }
    return report(await runAll(vitest, copy))
  } finally {
    await vitest.close()
    await rm(copy, { recursive: true, force: true })
  }
}

/** Ends after the mutant under way: Vitest would exit at once and leave its database behind. */
function stopInOrder(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.removeAllListeners(signal)
    process.once(signal, () => (isStopped = true))
  }
}

async function copyTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'hourbank-mutants-'))
  await cp(REPO, copy, { recursive: true, filter: (path) => path === REPO || !LEFT_OUT.has(basename(path)) })
  await symlink(join(REPO, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

function openVitest(copy: string): Promise<Vitest> {
  const root = join(copy, 'server')
  return createVitest('test', {
    root,
    config: join(root, 'vitest.config.ts'),
    watch: false,
    // Workers must not keep the modules of the mutant before.
    isolate: true,
    maxWorkers: 1,
    bail: 1,
    testTimeout: TEST_TIMEOUT_MS,
    reporters: [{}],
  })
}

/** Runs every test that is to notice a mutant without one. */
async function findBrokenTests(vitest: Vitest, copy: string): Promise<string[]> {
  const broken: string[] = []
  const runs = new Map(chosen.map((mutant) => [JSON.stringify([mutant.tests, mutant.named]), mutant]))
  for (const mutant of runs.values()) {
    const { failed, passed } = await runTests(vitest, copy, mutant)
    const name = `${mutant.tests.join(', ')}${mutant.named ? ` (${mutant.named})` : ''}`
    if (failed.length > 0) broken.push(`${name}: ${failed.join('; ')}`)
    else if (passed === 0) broken.push(`${name}: there is no such test`)
  }
  return broken
}

async function runAll(vitest: Vitest, copy: string): Promise<Map<Mutant, Fate>> {
  const fates = new Map<Mutant, Fate>()
  for (const mutant of chosen) {
    if (isStopped) break
    const startedAtMs = performance.now()
    const fate = await runMutant(vitest, copy, mutant)
    fates.set(mutant, fate)
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
    const detail = fate.kind === 'killed' ? ` by: ${fate.by}` : fate.kind === 'invalid' ? ` ${fate.reason}` : ''
    console.log(`${fate.kind} (${seconds} s): ${mutant.breaks}${detail}`)
  }
  return fates
}

async function runMutant(vitest: Vitest, copy: string, mutant: Mutant): Promise<Fate> {
  const file = join(copy, 'server', 'src', mutant.file)
  const source = await readFile(file, 'utf8')
  if (source.split(mutant.replace).length !== 2) return { kind: 'invalid', reason: `${mutant.file} has other text` }
  try {
    await writeFile(
      file,
      source.replace(mutant.replace, () => mutant.by),
    )
    vitest.invalidateFile(file)
    const { failed, passed, errors } = await (isMigration(mutant)
      ? runAnew(copy, mutant)
      : runTests(vitest, copy, mutant))
    // A file that cannot even be loaded says nothing about the promise.
    if (failed.length === 0 && passed === 0) return { kind: 'invalid', reason: `no test ran: ${errors.join('; ')}` }
    return failed.length > 0 ? { kind: 'killed', by: failed[0]! } : { kind: 'survived' }
  } finally {
    await writeFile(file, source)
    vitest.invalidateFile(file)
  }
}

function isMigration({ file }: Mutant): boolean {
  return file.endsWith('.sql')
}

/** The database that tests copy is made once per Vitest. */
async function runAnew(copy: string, mutant: Mutant) {
  const vitest = await openVitest(copy)
  try {
    return await runTests(vitest, copy, mutant)
  } finally {
    await vitest.close()
  }
}

async function runTests(vitest: Vitest, copy: string, { tests, named }: Mutant) {
  vitest.setGlobalTestNamePattern(named ?? '')
  const files = tests.map((name) => join(copy, 'server', 'test', `${name}.test.ts`))
  const specifications = (await vitest.globTestSpecifications(files)).filter(({ moduleId }) => files.includes(moduleId))
  if (specifications.length !== files.length) throw new Error(`There are no tests ${tests.join(', ')}.`)
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications)
  const modules = specifications.flatMap(({ testModule }) => testModule ?? [])
  const namesOf = (module: TestModule, state: 'failed' | 'passed') =>
    [...module.children.allTests(state)].map(({ name }) => `${relative(copy, module.moduleId)}: ${name}`)
  return {
    failed: modules.flatMap((module) => namesOf(module, 'failed')),
    passed: modules.flatMap((module) => namesOf(module, 'passed')).length,
    errors: [...modules.flatMap((module) => module.errors()), ...unhandledErrors].map(
      (error) => (error as Error).message,
    ),
  }
}

/** Returns the exit code. */
function report(fates: Map<Mutant, Fate>): number {
  const all = [...fates]
  if (all.length < chosen.length) console.error(`Stopped: ${chosen.length - all.length} mutants were not tried.`)
  const of = (kind: Fate['kind']) => all.filter(([, fate]) => fate.kind === kind).map(([mutant]) => mutant)
  const [killed, survived, invalid] = [of('killed'), of('survived'), of('invalid')]
  for (const { breaks, file } of invalid) console.error(`Adapt this mutant to ${file}: ${breaks}`)
  for (const { breaks, survives } of survived)
    console.error(`Survived: ${breaks}. ${survives ?? 'Write the missing test.'}`)
  const share = killed.length / all.length
  console.log(
    `${all.length} mutants: ${killed.length} killed (${(100 * share).toFixed(1)} %), ${survived.length} survived, ` +
      `${invalid.length} invalid`,
  )
  const unexplained = survived.filter(({ survives }) => survives === undefined)
  return unexplained.length > 0 || invalid.length > 0 || share < KILLED_SHARE_MIN || isStopped ? 1 : 0
}
