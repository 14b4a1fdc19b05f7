import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { linkAddress, type NewLink } from '../features/admins/links.ts'
import { offerSetUp } from '../features/admins/set-up.ts'
import type { Config } from '../config.ts'
import { connect, type Sql } from '../postgres/connect.ts'
import { openEmbedded } from '../postgres/embedded/embedded.ts'
import { checkPrepared } from '../postgres/check-prepared.ts'
import { migrate } from '../postgres/migrate.ts'
import { serversOf } from '../postgres/servers.ts'
import { makeDemo, type Demo } from '../demo/make-demo.ts'
import { writeAddress } from '../process/address-file.ts'
import { checkAddress, toRefusal } from '../process/check-address.ts'
import { checkTemporaryFolder } from '../process/check-temporary-folder.ts'
import { createLog } from '../process/log.ts'
import { openTracing } from '../process/tracing.ts'
import { createSecretBox } from '../crypto/secret-box.ts'
import type { NodeOptions, ServingNode } from '../process/node.ts'
import { giveToOwnerOf } from '../core/give-to-owner.ts'
import { loadSecretKey } from '../crypto/secret-key.ts'
import { checkSecretKey } from '../features/subscriptions/check-secret-key.ts'
import { startWebProcesses } from '../process/web-processes.ts'
import { admitService, print, type Command } from './command.ts'
import { blaming, ownerSetting, serviceSetting } from './database-setting.ts'

export const serveCommand: Command = {
  name: 'serve',
  usage: '',
  summary: 'Run the service (what npm start does)',
  run: ({ config }) => blaming(serviceSetting(config), () => serve(config)),
}

async function serve(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  let isPreparing = true
  // Only an embedded database would be left behind. Another one rolls back what was not committed.
  const stopped = stopSignal(() => isPreparing && config.databaseUrl !== undefined)
  await checkAddress(config)
  if (config.role !== 'worker') await checkTemporaryFolder()
  const embedded = config.databaseUrl ? undefined : await openEmbedded(config.dataDir, 'serve', log)
  try {
    const databaseUrl = config.databaseUrl ?? embedded!.serviceUrl
    const ownerUrl = config.migrationUrl ?? config.databaseUrl ?? embedded!.url
    const secretKey = await loadSecretKey(config)
    await blaming(ownerSetting(config), async () => {
      await prepare(config, ownerUrl, secretKey, log)
      await admitService(ownerUrl, databaseUrl)
    })
    if (config.databaseUrl) await checkPrepared(databaseUrl)
    warnOfUnanswered(databaseUrl, log)
    isPreparing = false
    // Before listening, so that a service that is ready has its demo. The address has been tried: a start that fails must
    // not create credentials that it never shows. If another program takes it meanwhile, `demo credentials` helps.
    const firstSteps = await blaming(ownerSetting(config), () => takeFirstSteps(config, ownerUrl))
    const node = await listen({ config, databaseUrl, secretKey, log })
    try {
      if (embedded) await writeAddress(config)
      print(...(await welcome(config, firstSteps)))
      log.info({ port: config.port, role: config.role }, 'serving')
      const end = await Promise.race([stopped, node.failed ?? stopped])
      if (end instanceof Error) throw end
      log.info({ signal: end }, 'stopping')
    } finally {
      await node.close()
    }
  } finally {
    await embedded?.close()
  }
}

interface FirstSteps {
  demo: Demo | undefined
  /** Only while there is no administrator. */
  setUp: NewLink | undefined
}

/** Creates what the first start shows: the demo, or the link by which the first administrator sets up the service. */
async function takeFirstSteps(config: Config, databaseUrl: string): Promise<FirstSteps> {
  const sql = connect(databaseUrl, { connectionsMax: 2, name: 'start' })
  try {
    const demo = config.demo ? await makeDemo(sql) : undefined
    return { demo, setUp: config.role === 'worker' ? undefined : await offerSetUp(sql) }
  } finally {
    await sql.end({ timeoutMs: 1000 })
  }
}

/** Migrates the database and checks the secret key. */
async function prepare(config: Config, databaseUrl: string, secretKey: string, log: Logger): Promise<void> {
  const sql = connect(databaseUrl, { connectionsMax: 2, name: 'start' })
  try {
    const applied = await migrate(sql, {
      // Only for the embedded database: operators of an external server have their own backups.
      ...(!config.databaseUrl && { beforeChange: () => backUpBeforeMigrating(config, databaseUrl, secretKey, log) }),
    })
    if (applied.length > 0) log.info({ applied }, 'migrated')
    await checkSecretKey(sql, createSecretBox(secretKey, config.previousSecretKey))
  } finally {
    await sql.end({ timeoutMs: 1000 })
  }
}

/** A process that has just started knows no timeline, so it cannot see that the primary that it found was replaced. */
function warnOfUnanswered(databaseUrl: string, log: Logger): void {
  const { unanswered } = serversOf(databaseUrl)
  if (unanswered.length === 0) return
  log.warn({ unanswered }, 'these servers of DATABASE_URL do not answer; if one was promoted, stop the old primary')
}

async function backUpBeforeMigrating(
  config: Config,
  databaseUrl: string,
  secretKey: string,
  log: Logger,
): Promise<void> {
  const folder = join(config.dataDir, 'backups')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await giveToOwnerOf(config.dataDir, folder)
  const file = join(folder, `before-migration-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.hourbank-backup`)
  // Separate connections, because the migration's is inside its transaction. On Citus the second one holds writers.
  const sql: Sql = connect(databaseUrl, { connectionsMax: 2, name: 'backup' })
  try {
    const { backup } = await import('../backup/backup.ts')
    await backup(sql, file, () => {}, { key: { kind: 'secret_key', text: secretKey } })
    await giveToOwnerOf(config.dataDir, file)
    log.info({ file }, 'backed up before migrating')
  } finally {
    await sql.end({ timeoutMs: 1000 })
  }
}

async function listen(options: NodeOptions): Promise<ServingNode> {
  const { config } = options
  try {
    if (config.webConcurrency > 1) return await startWebProcesses(options)
    // Imported on demand: the web server takes half a second to load, and other commands do not need it.
    const { startNode } = await import('../process/node.ts')
    const traces = await openTracing(config, options.log)
    const node = await startNode(options)
    return {
      port: node.port,
      async close() {
        await node.close()
        await traces.close()
      },
    }
  } catch (error) {
    // The address was free a moment ago.
    throw toRefusal(error as NodeJS.ErrnoException, config.host, config.port)
  }
}

async function welcome(config: Config, { demo, setUp }: FirstSteps): Promise<string[]> {
  const { API_PREFIX } = await import('../http/partner/frame.ts')
  const lines = [
    '',
    'Hourbank is running.',
    '',
    `  Console      ${config.publicUrl}/console/`,
    `  Partner API  ${config.publicUrl}${API_PREFIX}`,
    `  Reference    ${config.publicUrl}/docs/`,
    '',
  ]
  if (setUp) {
    return [
      ...lines,
      'There is no administrator yet. Open this link within a day to become the first one; it works once:',
      '',
      `  ${linkAddress(config.publicUrl, 'set_up', setUp.token)}`,
      '',
    ]
  }
  if (!demo) {
    return [
      ...lines,
      'To create new credentials:',
      ...(config.demo ? ['  npx hourbank demo credentials'] : []),
      '  npx hourbank community list',
      '  npx hourbank partner create --community SLUG --name NAME --scopes "users.read"',
      '  npx hourbank admin reset --email EMAIL',
      '',
    ]
  }
  const body = JSON.stringify({
    grant_type: 'client_credentials',
    client_id: demo.clientId,
    client_secret: demo.clientSecret,
    scope: 'users.read',
  })
  return [
    ...lines,
    'A demo community was created. These credentials are shown only once:',
    '',
    `  Administrator      ${demo.email}`,
    `  One-time password  ${demo.password}`,
    `  client_id          ${demo.clientId}`,
    `  client_secret      ${demo.clientSecret}`,
    '',
    'Get an access token:',
    '',
    `curl -s ${config.publicUrl}${API_PREFIX}/oauth/token -H 'Content-Type: application/json' -d '${body}'`,
    '',
  ]
}

/** Under npm, Ctrl-C arrives twice: from the terminal and from npm. */
const REPEATED_SIGNAL_MS = 1000

/** Resolves on the first signal, for a clean shutdown. A later signal exits immediately, and so does one while `mayExit`. */
function stopSignal(mayExit: () => boolean): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (mayExit()) process.exit(1)
        firstAt ??= performance.now()
        resolve(signal)
        if (performance.now() - firstAt > REPEATED_SIGNAL_MS) process.exit(1)
      })
    }
  })
}
