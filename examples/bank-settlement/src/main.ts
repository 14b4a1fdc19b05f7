import { parseArgs } from 'node:util'
import { HourbankError } from '@hourbank/client'
import { parseRate } from './amounts.ts'
import { connect, Refusal } from './connect.ts'
import { makeSamples } from './make-samples.ts'
import { agrees, writeReport } from './report.ts'
import { settle } from './settle.ts'

const USAGE = `Credits hours from the settled transfers of camt.053 bank statements.

  npx tsx examples/bank-settlement/src/main.ts [options] STATEMENT.xml …

  --euros-per-hour N    the price of an hour (default 10)
  --check               only compare; credit and reverse nothing
  --make-samples DIR    write two sample statements for the first members of the community

Exit codes: 0 if the bank and Hourbank agree, 1 if they do not, 2 if the program could not find out.`

const AGREE = 0
const DISAGREE = 1
const FAILED = 2
/** The time limit for revoking the token, which expires within the hour anyway. */
const CLOSE_TIMEOUT_MS = 2_000

async function main(): Promise<number> {
  const { values, positionals: files } = readArguments()
  if (values.help) return print(USAGE)
  const rate = parseRate(values['euros-per-hour'])
  const hourbank = connect(process.env)
  try {
    if (values['make-samples'] !== undefined) {
      const written = await makeSamples(hourbank, values['make-samples'])
      return print(`Wrote ${written.join(' and ')}`)
    }
    if (files.length === 0) throw new Refusal(USAGE)
    const run = await settle(hourbank, files, rate, values.check)
    print(writeReport(run))
    return agrees(run) ? AGREE : DISAGREE
  } finally {
    await hourbank.close({ retries: 0, totalTimeoutMs: CLOSE_TIMEOUT_MS })
  }
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        'euros-per-hour': { type: 'string', default: '10' },
        'make-samples': { type: 'string' },
        check: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (cause) {
    throw new Refusal(`${(cause as Error).message}\n\n${USAGE}`, { cause })
  }
}

function print(text: string): number {
  console.log(text)
  return AGREE
}

try {
  process.exitCode = await main()
} catch (error) {
  process.exitCode = FAILED
  if (error instanceof Refusal) console.error(error.message)
  else if (error instanceof HourbankError)
    console.error(`${error.message}\nNothing is lost: run the same command again later.`)
  else throw error
}
