import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Actor } from '../features/audit/record.ts'
import { findCommunity, type CommunityRow } from '../features/communities/queries.ts'
import type { Config } from '../config.ts'
import { connect, type Sql } from '../postgres/connect.ts'
import { hasCluster } from '../postgres/embedded/cluster.ts'
import { openEmbedded } from '../postgres/embedded/embedded.ts'
import { currentUserName } from '../postgres/embedded/place.ts'
import { isMigrated } from '../postgres/migrate.ts'
import { grantToService, requireSessionsVisible, roleOf } from '../postgres/service-role.ts'
import { Refusal } from '../core/refusal.ts'
import { blaming, ownerSetting, serviceSetting, type DatabaseSetting } from './database-setting.ts'

const CONNECTIONS_MAX = 2
/** SIGHUP is what a closed terminal sends. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Command {
  /** One or two words: `partner create`. */
  name: string
  /** The arguments, as the help shows them, which are also the ones that are accepted. Positionals come first. */
  usage: string
  summary: string
  run(input: CommandInput): Promise<void>
}

export interface CommandInput {
  config: Config
  values: Record<string, string | boolean | undefined>
  positionals: string[]
}

/**
 * Reads the arguments that a usage allows: first its positionals, then its options. `--name NAME` takes a value, `--json`
 * does not.
 */
export function readArguments(usage: string, args: string[]): Pick<CommandInput, 'values' | 'positionals'> {
  const named = [...usage.matchAll(/--([a-z-]+)( [^\s[\]-])?/g)]
  const options = Object.fromEntries(
    named.map(([, name, value]) => [name, { type: value ? ('string' as const) : ('boolean' as const) }]),
  )
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [beforeOptions = ''] = usage.split(/\[|--/)
  const surplus = positionals[beforeOptions.split(' ').filter(Boolean).length]
  // An ignored word may be a typo: `demo remove` would create a demo.
  if (surplus !== undefined) throw new Error(`Unexpected argument ${surplus}.`)
  // An option given twice counts once, so no value is a list.
  return { values: values as CommandInput['values'], positionals }
}

interface CommandRun {
  databaseUrl: string
  /** Aborted by a signal to this process; so are all statements of the command. */
  stopped: AbortSignal
}

interface DatabaseOptions {
  /** Creates the embedded database if there is none. */
  create?: boolean
  /** Where the address is from, if it is not the service's own. */
  setting?: DatabaseSetting
}

/**
 * Works alongside a running service or without one: the embedded database is started if it is not running. A signal
 * aborts the work, so that neither an incomplete file nor a running embedded database is left behind.
 */
export async function withDatabase<T>(
  config: Config,
  work: (sql: Sql, run: CommandRun) => Promise<T>,
  { create = false, setting = serviceSetting(config) }: DatabaseOptions = {},
): Promise<T> {
  // In a shell without the service's settings, a nightly backup would save a new, empty database and report success.
  if (!config.databaseUrl && !create && !(await hasCluster(config.dataDir))) {
    throw new Refusal(
      `There is no database in ${resolve(config.dataDir)}. Set DATABASE_URL or DATA_DIR as for the service, or create ` +
        'one: npm start',
    )
  }
  const stop = new AbortController()
  const onSignal = () => stop.abort(new Refusal('Stopped.'))
  for (const name of STOP_SIGNALS) process.on(name, onSignal)
  try {
    return await blaming(setting, () => runOnDatabase(config, work, stop.signal))
  } catch (error) {
    stop.signal.throwIfAborted()
    throw error
  } finally {
    // Kept after a signal: npm repeats Ctrl-C, which must not end the process before it has reported its end.
    if (!stop.signal.aborted) for (const name of STOP_SIGNALS) process.off(name, onSignal)
  }
}

async function runOnDatabase<T>(
  config: Config,
  work: (sql: Sql, run: CommandRun) => Promise<T>,
  stopped: AbortSignal,
): Promise<T> {
  const embedded = config.databaseUrl ? undefined : await openEmbedded(config.dataDir, 'command')
  const url = config.databaseUrl ?? embedded!.url
  const sql = connect(url, { connectionsMax: CONNECTIONS_MAX, name: 'command' })
  try {
    stopped.throwIfAborted()
    return await work(sql.until(stopped), { databaseUrl: url, stopped })
  } finally {
    await sql.end({ timeoutMs: 1000 })
    await embedded?.close()
  }
}

/** Like `withDatabase`, but as the owner of the tables. Afterwards the service's role may use them. */
export async function withOwner<T>(
  config: Config,
  work: (sql: Sql, run: CommandRun) => Promise<T>,
  options?: DatabaseOptions,
): Promise<T> {
  const asOwner = { ...config, databaseUrl: config.migrationUrl ?? config.databaseUrl }
  const admitAfterwards = async (sql: Sql, run: CommandRun) => {
    const result = await work(sql, run)
    if (config.databaseUrl) await admitService(run.databaseUrl, config.databaseUrl)
    return result
  }
  const setting: DatabaseSetting = { ...ownerSetting(config), owner: 'MIGRATION_DATABASE_URL' }
  return withDatabase(asOwner, admitAfterwards, { ...options, setting })
}

/** Grants the role of the service access to what the owner has created, if they are not the same. */
export async function admitService(ownerUrl: string, serviceUrl: string): Promise<void> {
  const role = roleOf(serviceUrl)
  if (role === '' || role === roleOf(ownerUrl)) return
  const owner = connect(ownerUrl, { connectionsMax: 1, name: 'grants' })
  const service = connect(serviceUrl, { connectionsMax: 1, name: 'grants' })
  try {
    // First, because it finds out whether there is such a role.
    await blaming({ name: 'DATABASE_URL' }, () => requireSessionsVisible(service))
    await grantToService(owner, role)
  } finally {
    await Promise.all([owner.end({ timeoutMs: 1000 }), service.end({ timeoutMs: 1000 })])
  }
}

/** Like `withDatabase`, but requires an up-to-date schema. */
export async function withTables<T>(config: Config, work: (sql: Sql, run: CommandRun) => Promise<T>): Promise<T> {
  return withDatabase(config, async (sql, run) => {
    if (!(await isMigrated(sql))) throw new Refusal('The database is not up to date. Run: npx hourbank migrate')
    return work(sql, run)
  })
}

/** The user of the command line, for the audit log. */
export function commandActor(): Actor {
  return { kind: 'command', name: currentUserName() }
}

export function requireText(values: CommandInput['values'], name: string): string {
  const value = values[name]
  if (typeof value !== 'string' || value.trim() === '') throw new Refusal(`--${name} is missing.`)
  return value
}

export function optionalText(values: CommandInput['values'], name: string): string | undefined {
  return values[name] === undefined ? undefined : requireText(values, name)
}

export function optionalNumber(values: CommandInput['values'], name: string): number | undefined {
  const text = optionalText(values, name)
  if (text === undefined) return undefined
  if (!/^\d{1,12}(\.\d{1,2})?$/.test(text)) throw new Refusal(`--${name} must be a number.`)
  return Number(text)
}

export async function requireCommunity(sql: Sql, values: CommandInput['values']): Promise<CommunityRow> {
  const slug = requireText(values, 'community')
  const community = await findCommunity(sql, slug)
  if (!community) throw new Refusal(`There is no community ${slug}. See: npx hourbank community list`)
  return community
}

/** Prints lines for people to standard output. */
export function print(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Prints JSON for scripts; its fields are a stable contract. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}
