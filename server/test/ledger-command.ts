import { vi } from 'vitest'
import { ledgerCommands } from '../src/cli/ledger.ts'
import { readConfig } from '../src/config.ts'

/** Runs `hourbank ledger …` in this process; returns what it printed and how it failed. */
export async function runLedger(url: string, name: 'seal' | 'verify', values: Record<string, string | boolean>) {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const config = { ...readConfig({}), databaseUrl: url }
    const command = ledgerCommands.find((one) => one.name === `ledger ${name}`)!
    const failed = await command.run({ config, values, positionals: [] }).catch((error: Error) => error)
    const printed = written.mock.calls.map(([text]) => String(text)).join('')
    return { failed: failed as Error | undefined, printed, json: () => JSON.parse(printed) }
  } finally {
    written.mockRestore()
  }
}
