import { parseArgs } from 'node:util'
import { startChild } from './children.ts'
import { rounded } from './figures.ts'
import { measureGrowth, type Growth } from './growth-operations.ts'
import { explainOperations, type Plan } from './growth-plans.ts'
import { measureCommands, type CommandMemory } from './growth-commands.ts'
import { measureRest } from './growth-rest.ts'
import { openGrownTowns } from './growth-towns.ts'
import { isRestful, isWithinBars, latencyTable, reportGrowth, restTable } from './growth-report.ts'
import type { Job, Measured } from './load/job.ts'

const SIZES = '1000,30000,1000000'
const ROUNDS = 7

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: SIZES },
    rounds: { type: 'string', default: `${ROUNDS}` },
    data: { type: 'string' },
    rest: { type: 'boolean' },
    lists: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
})
const sizes = values.sizes.split(',').map(Number)
if (values.help || sizes.length < 2 || sizes.some((size) => !Number.isInteger(size))) {
  console.log(`npm run bench:growth -- [--sizes ${SIZES}] [--rounds N] [--data FOLDER] [--rest] [--lists]
Towns that are in FOLDER already are used again; without it they are created and removed at the end.
--rest measures only the database's time at rest, by the number of communities.
--lists measures only the lists of the console.`)
  process.exit(values.help ? 0 : 1)
}

const rounds = Number(values.rounds)
const startedMs = performance.now()
function progress(text: string): void {
  process.stderr.write(`[${`${rounded((performance.now() - startedMs) / 1000)}`.padStart(5)} s] ${text}\n`)
}

if (values.lists) process.exit((await measureLists()) ? 0 : 1)
const rest = await measureRest(progress)
if (values.rest) {
  console.log(restTable(rest))
  process.exit(isRestful(rest) ? 0 : 1)
}
const towns = await openGrownTowns(sizes, values.data, progress)
const generator = await startChild<Job, Measured>('load/generator.ts')
let growth: Growth[]
let plans: Plan[]
let commands: CommandMemory[]
try {
  growth = await measureGrowth(towns.list, generator, { rounds, isListsOnly: false }, progress)
  progress('query plans')
  plans = await explainOperations(towns.list.at(-1)!)
  commands = await measureCommands(towns.list, progress)
} finally {
  await generator.stop()
  await towns.close()
}
// Results of other sizes are only printed, not saved.
process.exitCode = (await reportGrowth(
  { growth, plans, commands, rest, sizes, postgres: towns.postgres },
  values.sizes === SIZES,
))
  ? 0
  : 1

/** Prints the lists of the console alone. Returns whether every bar is met. */
async function measureLists(): Promise<boolean> {
  const grown = await openGrownTowns(sizes, values.data, progress)
  const load = await startChild<Job, Measured>('load/generator.ts')
  try {
    const lists = await measureGrowth(grown.list, load, { rounds, isListsOnly: true }, progress)
    console.log(latencyTable({ growth: lists, sizes }))
    return isWithinBars(lists)
  } finally {
    await load.stop()
    await grown.close()
  }
}
