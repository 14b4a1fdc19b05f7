import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createVitest, type TestModule, type Vitest } from 'vitest/node'

/** A test that waits for what a mutant prevents is killed sooner than in `npm test`. */
const TEST_TIMEOUT_MS = 90_000
export const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export interface RanTest {
  /** Without `.test.ts`. */
  file: string
  name: string
  isTimedOut: boolean
}

export interface TestRun {
  failed: RanTest[]
  passed: RanTest[]
  errors: string[]
}

interface VitestOptions {
  /** Workers must not keep the modules of the mutant before. */
  isolate: boolean
  /** How many failures end a run; 0 for no limit. */
  bail: number
}

/** Runs the work with a Vitest for this copy of the tree. One Vitest makes the tests' database once. */
export async function withVitest<T>(
  copy: string,
  options: VitestOptions,
  work: (vitest: Vitest) => Promise<T>,
): Promise<T> {
  const temporary = tmpdir()
  const root = join(copy, 'server')
  const listeners = SIGNALS.map((signal) => process.listeners(signal))
  const vitest = await createVitest('test', {
    root,
    config: join(root, 'vitest.config.ts'),
    watch: false,
    maxWorkers: 1,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    reporters: [{}],
    ...options,
  })
  // Vitest's own would exit at once and leave its database behind.
  for (const [n, signal] of SIGNALS.entries()) {
    const added = process.listeners(signal).filter((listener) => !listeners[n]!.includes(listener))
    for (const listener of added) process.removeListener(signal, listener)
  }
  try {
    return await work(vitest)
  } finally {
    await vitest.close()
    // The tests' setup replaced it by a folder of its own, which is gone now.
    process.env.TMPDIR = temporary
  }
}

/** Runs the tests of these files whose names match. */
export async function runTests(vitest: Vitest, tests: string[], named = ''): Promise<TestRun> {
  vitest.setGlobalTestNamePattern(named)
  const files = [...new Set(tests)].map((name) => join(vitest.config.root, 'test', `${name}.test.ts`))
  const specifications = (await vitest.globTestSpecifications(files)).filter(({ moduleId }) => files.includes(moduleId))
  if (specifications.length !== files.length) throw new Error(`There are no tests ${tests.join(', ')}.`)
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications)
  const modules = specifications.flatMap(({ testModule }) => testModule ?? [])
  return {
    failed: modules.flatMap((module) => testsOf(module, 'failed')),
    passed: modules.flatMap((module) => testsOf(module, 'passed')),
    errors: [...modules.flatMap((module) => module.errors()), ...unhandledErrors].map(
      (error) => (error as Error).message,
    ),
  }
}

function testsOf(module: TestModule, state: 'failed' | 'passed'): RanTest[] {
  const file = basename(module.moduleId, '.test.ts')
  return [...module.children.allTests(state)].map((test) => ({
    file,
    name: test.fullName,
    isTimedOut: (test.result().errors ?? []).some(({ message }) => message.startsWith('Test timed out')),
  }))
}
