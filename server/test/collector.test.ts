import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Keeps what it makes for long enough, in turn with what is new, that V8 would soon make it old from the start. */
const KEEP_LONG = `
  const isYoung = new Function('value', 'return %InYoungGeneration(value)')
  let old = 0
  for (let maker = 0; maker < 8; maker++) {
    const make = new Function('n', 'return { n, inner: [n, n + 1] }')
    for (let round = 0; round < 25; round++) {
      const kept = []
      for (let n = 0; n < 50_000; n++) kept.push(make(n))
      if (!isYoung(make(0))) old += 1
    }
  }
  console.log(old)`

/** Compiles and collects on the one thread, so that the outcome does not depend on how busy the machine is. */
const IN_ORDER = ['--single-threaded']

async function countMadeOld(prelude = ''): Promise<number> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--allow-natives-syntax', ...IN_ORDER, '--input-type=module', '-e', prelude + KEEP_LONG],
    { cwd: new URL('..', import.meta.url) },
  )
  return Number(stdout)
}

test('what a request makes is young, however long such things lived before', async () => {
  expect(await countMadeOld()).toBeGreaterThan(0)
  expect(await countMadeOld(`import { tuneCollector } from './src/process/collector.ts'; tuneCollector();`)).toBe(0)
})
