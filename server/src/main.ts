import { parseArgs } from 'node:util'
import { adminCommands } from './cli/admin.ts'
import { backupCommands } from './cli/backup.ts'
import { clientCommands } from './cli/client.ts'
import { print, readOptions, type Command } from './cli/command.ts'
import { communityCommands } from './cli/community.ts'
import { demoCommand } from './cli/demo.ts'
import { erasureCommands } from './cli/erasures.ts'
import { explain } from './cli/explain.ts'
import { exportCommands } from './cli/export.ts'
import { importCommands } from './cli/import.ts'
import { ledgerCommands } from './cli/ledger.ts'
import { migrateCommand } from './cli/migrate.ts'
import { openapiCommand } from './cli/openapi.ts'
import { partnerCommands } from './cli/partner.ts'
import { serveCommand } from './cli/serve.ts'
import { webhookCommands } from './cli/webhooks.ts'
import { readConfig } from './config.ts'
import { tuneCollector } from './process/collector.ts'

const COMMANDS: Command[] = [
  serveCommand,
  migrateCommand,
  ...communityCommands,
  ...adminCommands,
  ...partnerCommands,
  ...clientCommands,
  ...webhookCommands,
  ...backupCommands,
  openapiCommand,
  demoCommand,
  ...importCommands,
  ...exportCommands,
  ...erasureCommands,
  ...ledgerCommands,
]

const USAGE_ERROR = 2

async function main(args: string[]): Promise<number> {
  const command = COMMANDS.find(({ name }) => name.split(' ').every((word, index) => args[index] === word))
  if (!command) return help(args)
  const rest = args.slice(command.name.split(' ').length)
  if (rest.includes('--help')) {
    print(`${command.summary}.`, '', `  hourbank ${command.name} ${command.usage}`)
    return 0
  }
  let parsed
  try {
    parsed = parseArgs({ args: rest, options: readOptions(command.usage), allowPositionals: true })
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nUsage: hourbank ${command.name} ${command.usage}\n`)
    return USAGE_ERROR
  }
  try {
    const { values, positionals } = parsed
    await command.run({
      config: readConfig(process.env),
      values: values as Record<string, string | boolean>,
      positionals,
    })
    return 0
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`)
    return 1
  }
}

/** Lists all commands, or those that start with the given word. */
function help(args: string[]): number {
  const words = args.filter((arg) => !arg.startsWith('-'))
  const matching = COMMANDS.filter(({ name }) => words.length > 0 && name.split(' ')[0] === words[0])
  if (words.length > 0 && matching.length === 0) {
    process.stderr.write(`There is no command ${words.join(' ')}. See: npx hourbank --help\n`)
    return USAGE_ERROR
  }
  const shown = matching.length > 0 ? matching : COMMANDS
  print('hourbank COMMAND [options]', '')
  for (const { name, usage, summary } of shown) print(`  ${`${name} ${usage}`.trim()}`, `      ${summary}`)
  return matching.length > 0 && !args.includes('--help') ? USAGE_ERROR : 0
}

tuneCollector()
process.exitCode = await main(process.argv.slice(2))
