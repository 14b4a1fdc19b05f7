import { print, readArguments, type Command } from './cli/command.ts'
import { explain } from './cli/explain.ts'
import { readConfig } from './config.ts'
import { tuneCollector } from './process/collector.ts'

/** By first word, in the order of the help. Loading all of them for each command would take most of its time. */
const COMMANDS: Record<string, () => Promise<Command[]>> = {
  serve: async () => [(await import('./cli/serve.ts')).serveCommand],
  migrate: async () => [(await import('./cli/migrate.ts')).migrateCommand],
  community: async () => (await import('./cli/community.ts')).communityCommands,
  admin: async () => (await import('./cli/admin.ts')).adminCommands,
  partner: async () => (await import('./cli/partner.ts')).partnerCommands,
  client: async () => (await import('./cli/client.ts')).clientCommands,
  webhooks: async () => (await import('./cli/webhooks.ts')).webhookCommands,
  backup: async () => (await import('./cli/backup.ts')).backupCommands,
  restore: async () => (await import('./cli/backup.ts')).backupCommands,
  openapi: async () => [(await import('./cli/openapi.ts')).openapiCommand],
  demo: async () => (await import('./cli/demo.ts')).demoCommands,
  members: async () => [...(await fileCommands()), ...(await import('./cli/erasures.ts')).erasureCommands],
  listings: fileCommands,
  transfers: fileCommands,
  erasures: async () => (await import('./cli/erasures.ts')).erasureCommands,
  ledger: async () => (await import('./cli/ledger.ts')).ledgerCommands,
  cluster: async () => (await import('./cli/cluster.ts')).clusterCommands,
}

const USAGE_ERROR = 2
/** The SDK brings this command; `bin/hourbank.js` hands over to it. */
const LISTEN = {
  name: 'listen',
  usage: '--forward-to URL',
  summary: 'Post each event, signed, to an address on this machine',
}

async function main(args: string[]): Promise<number> {
  const commands = await loadCommands(args[0])
  const command = commands.find(({ name }) => name.split(' ').every((word, index) => args[index] === word))
  if (!command) return help(args)
  const rest = args.slice(command.name.split(' ').length)
  if (rest.includes('--help')) {
    print(`${command.summary}.`, '', `  hourbank ${command.name} ${command.usage}`)
    return 0
  }
  let parsed
  try {
    parsed = readArguments(command.usage, rest)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nUsage: hourbank ${command.name} ${command.usage}\n`)
    return USAGE_ERROR
  }
  try {
    await command.run({ config: readConfig(process.env), ...parsed })
    return 0
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`)
    return 1
  }
}

async function fileCommands(): Promise<Command[]> {
  const [{ importCommands }, { exportCommands }] = await Promise.all([
    import('./cli/import.ts'),
    import('./cli/export.ts'),
  ])
  return [...importCommands, ...exportCommands]
}

async function loadCommands(firstWord: string | undefined): Promise<Command[]> {
  if (firstWord === undefined || !Object.hasOwn(COMMANDS, firstWord)) return []
  const commands = await COMMANDS[firstWord]!()
  return commands.filter(({ name }) => name.split(' ')[0] === firstWord)
}

/** Lists all commands, or those that start with the given word. */
async function help(args: string[]): Promise<number> {
  const words = args.filter((arg) => !arg.startsWith('-'))
  const matching = await loadCommands(words[0])
  if (words.length > 0 && matching.length === 0) {
    process.stderr.write(`There is no command ${words.join(' ')}. See: npx hourbank --help\n`)
    return USAGE_ERROR
  }
  const all = async () => [...(await Promise.all(Object.keys(COMMANDS).map(loadCommands))).flat(), LISTEN]
  const shown = words.length > 0 ? matching : await all()
  print('hourbank COMMAND [options]', '')
  for (const { name, usage, summary } of shown) print(`  ${`${name} ${usage}`.trim()}`, `      ${summary}`)
  return matching.length > 0 && !args.includes('--help') ? USAGE_ERROR : 0
}

/**
 * Without a listener, a reader that leaves (`| head`) or a full disk would end the process at once and leave the embedded
 * database running. The service does not depend on its output; a command continues, and fails at its end.
 */
function surviveLostOutput(isService: boolean): void {
  // Not in the service: opening this stream makes its log, which writes to the same pipe, non-blocking.
  if (!isService) process.stderr.on('error', () => {})
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (isService || process.exitCode) return
    process.exitCode = 1
    if (code !== 'EPIPE') process.stderr.write(`The output could not be written: ${message}\n`)
  })
}

const args = process.argv.slice(2)
const isService = args[0] === 'serve'
tuneCollector()
surviveLostOutput(isService)
const exitCode = await main(args)
process.exitCode ||= exitCode
// Whatever a failed service left open must not keep it alive: supervisors start again only what has ended.
if (isService && exitCode !== 0) process.stderr.write('', () => process.exit())
