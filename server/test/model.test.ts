import * as fc from 'fast-check'
import { test } from 'vitest'
import { COMMANDS } from './model-commands.ts'
import { checkBooks, startSequence, startWorld } from './model-world.ts'

/** MODEL_SEQUENCES=5000 looks further. */
const SEQUENCES = Number(process.env.MODEL_SEQUENCES ?? 200)
const COMMANDS_MAX = 25

test('a model predicts every response to random sequences of what partners and the office do', async () => {
  const world = await startWorld()
  let steps = 0
  await fc.assert(
    fc.asyncProperty(fc.commands([COMMANDS], { maxCommands: COMMANDS_MAX, size: 'max' }), async (commands) => {
      const sequence = await startSequence(world)
      await fc.asyncModelRun(async () => sequence, commands)
      await checkBooks(sequence)
      steps += [...commands].length
    }),
    { numRuns: SEQUENCES },
  )
  console.log(`${SEQUENCES} sequences, ${steps} steps`)
})
