import { clearInterval, setInterval } from 'node:timers'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { Queries } from '../../postgres/connect.ts'
import { checkAlerts, checkDisk } from './check-alerts.ts'

const INTERVAL_MS = 60_000

/** Looks every minute whether there is something to tell. Any number of nodes may: an alert is raised once. */
export function startAlertJob({
  sql,
  config,
  mailer,
  log,
}: {
  sql: Queries
  config: Config
  mailer: Mailer
  log: Logger
}): { stop(): Promise<void> } {
  const deps = { sql, config, send: mailer.send }
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    try {
      await checkAlerts(deps)
      await checkDisk(deps, config)
    } catch (error) {
      log.warn({ err: error }, 'alerts could not be checked; the next run tries again')
    }
  }

  const timer = setInterval(() => (running ??= run().finally(() => (running = undefined))), INTERVAL_MS)
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
