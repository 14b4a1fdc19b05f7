/*
 * `npm run test:mutants`: breaks one promise at a time in a copy of the tree, and runs the nearest tests. Each break must
 * make a test fail. With arguments, only mutants whose description or file contains one of them; with --part 1/3, every
 * third of them. The tests run once without a mutant before, unless --trust-tests says that they have passed.
 *
 * One Vitest serves all mutants: it keeps the database and the modules that a mutant does not concern.
 */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Vitest } from 'vitest/node'
import { MUTANTS } from './mutants/all.ts'
import type { Mutant } from './mutants/mutant.ts'
import { runTests, SIGNALS, withVitest, type RanTest, type TestRun } from './vitest-run.ts'

const REPO = fileURLToPath(new URL('../..', import.meta.url))
const KILLED_SHARE_MIN = 0.95
/** Neither part of the sources nor needed by the tests. */
const LEFT_OUT = new Set(['node_modules', 'dist', '.git', '.data', '.venv', 'test-results', 'playwright-report'])
const WITH_MUTANT = { isolate: true, bail: 1 }
const WITHOUT_MUTANT = { isolate: false, bail: 0 }

type Fate = { kind: 'killed'; by: RanTest } | { kind: 'survived' } | { kind: 'invalid'; reason: string }

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { 'trust-tests': { type: 'boolean', default: false }, part: { type: 'string', default: '1/1' } },
})
const [part, parts] = options.part.split('/').map(Number) as [number, number]
const chosen = MUTANTS.filter(
  ({ breaks, file }) => wanted.length === 0 || wanted.some((text) => breaks.includes(text) || file.includes(text)),
).filter((_, n) => n % parts === part - 1)
let isStopped = false
process.exitCode = await main()

async function main(): Promise<number> {
  const copy = await copyTree()
  try {
    const broken = options['trust-tests'] ? [] : await withVitest(copy, WITHOUT_MUTANT, findBrokenTests)
    if (broken.length > 0) {
      console.error(`Without a mutant, these tests do not pass, so they prove nothing:\n${broken.join('\n')}`)
      return 1
    }
    return report(await withVitest(copy, WITH_MUTANT, (vitest) => runAll(vitest, copy)))
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function copyTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'hourbank-mutants-'))
  await cp(REPO, copy, { recursive: true, filter: (path) => path === REPO || !LEFT_OUT.has(basename(path)) })
  await symlink(join(REPO, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Runs the tests that are to notice mutants without one: each file once or twice, however many mutants it has. */
async function findBrokenTests(vitest: Vitest): Promise<string[]> {
  const named = chosen.filter((mutant) => mutant.named !== undefined)
  const unnamed = chosen.filter((mutant) => mutant.named === undefined)
  const pattern = named.map((mutant) => mutant.named).join('|')
  return [...(await findBroken(vitest, named, pattern)), ...(await findBroken(vitest, unnamed))]
}

async function findBroken(vitest: Vitest, mutants: Mutant[], pattern?: string): Promise<string[]> {
  if (mutants.length === 0) return []
  const tests = mutants.flatMap((mutant) => mutant.tests)
  const { failed, passed } = await runTests(vitest, tests, pattern)
  const unmatched = mutants.filter((mutant) => !passed.some((test) => isNearest(test, mutant)))
  return [
    ...failed.map((test) => `${describe(test)} fails`),
    ...unmatched.map(({ breaks }) => `no test passed that could notice: ${breaks}`),
  ]
}

function isNearest({ file, name }: RanTest, { tests, named = '' }: Mutant): boolean {
  return tests.includes(file) && new RegExp(named).test(name)
}

function describe({ file, name }: RanTest): string {
  return `${file}: ${name}`
}

async function runAll(vitest: Vitest, copy: string): Promise<Map<Mutant, Fate>> {
  // Ends after the mutant under way.
  for (const signal of SIGNALS) process.once(signal, () => (isStopped = true))
  const fates = new Map<Mutant, Fate>()
  for (const mutant of chosen) {
    if (isStopped) break
    const startedAtMs = performance.now()
    const fate = await runMutant(vitest, copy, mutant)
    fates.set(mutant, fate)
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
    const detail =
      fate.kind === 'killed' ? ` by ${describe(fate.by)}` : fate.kind === 'invalid' ? ` ${fate.reason}` : ''
    console.log(`${fate.kind} (${seconds} s): ${mutant.breaks}${detail}`)
  }
  return fates
}

async function runMutant(vitest: Vitest, copy: string, mutant: Mutant): Promise<Fate> {
  const file = join(copy, 'server', 'src', mutant.file)
  const source = await readFile(file, 'utf8')
  if (source.split(mutant.replace).length !== 2) return { kind: 'invalid', reason: `${mutant.file} has other text` }
  const broken = source.replace(mutant.replace, () => mutant.by)
  const { failed, passed, errors } = await runOn(vitest, copy, mutant, { file, source, broken })
  // A file that cannot even be loaded says nothing about the promise.
  if (failed.length === 0 && passed.length === 0) {
    return { kind: 'invalid', reason: `no test ran: ${errors.join('; ')}` }
  }
  if (failed.length === 0) return { kind: 'survived' }
  // Either the test waits for what the mutant prevents, or the machine is too busy.
  if (
    failed.every(({ isTimedOut }) => isTimedOut) &&
    (await runTests(vitest, mutant.tests, mutant.named)).failed.length > 0
  ) {
    return { kind: 'invalid', reason: 'the test times out without the mutant too' }
  }
  return { kind: 'killed', by: failed[0]! }
}

interface Edit {
  file: string
  source: string
  broken: string
}

async function runOn(
  vitest: Vitest,
  copy: string,
  { tests, named }: Mutant,
  { file, source, broken }: Edit,
): Promise<TestRun> {
  try {
    await writeFile(file, broken)
    vitest.invalidateFile(file)
    // A migration has run when the database of the tests is made, so it needs a Vitest of its own.
    if (file.endsWith('.sql')) return await withVitest(copy, WITH_MUTANT, (fresh) => runTests(fresh, tests, named))
    return await runTests(vitest, tests, named)
  } finally {
    await writeFile(file, source)
    vitest.invalidateFile(file)
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
