import { clearInterval, setInterval } from 'node:timers'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { within } from '../../core/within.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { Queries } from '../../postgres/connect.ts'
import { checkAlerts, checkDisk } from './check-alerts.ts'
import { mailDue } from './mail-alerts.ts'

const INTERVAL_MS = 60_000
/** A mail that is not sent by then is sent by another process after the lease. */
const STOP_TIMEOUT_MS = 1000

/** Checks for alerts every minute. Any number of nodes may run it: one checks at a time, and one sends each mail. */
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
  const deps = { sql, config, send: mailer.isOn ? mailer.deliver : undefined }
  let isStopped = false
  let running: Promise<void> | undefined
  /** A mail server may be away for minutes. The next check does not wait for that. */
  const mailing = new Set<Promise<void>>()

  async function run(): Promise<void> {
    try {
      await checkAlerts(sql)
      await checkDisk(sql, config)
    } catch (error) {
      log.warn({ err: error }, 'alerts could not be checked; the next run tries again')
    }
    const sent: Promise<void> = mailDue(deps, () => isStopped)
      .catch((error: unknown) => {
        if (!isStopped) log.warn({ err: error }, 'an alert could not be mailed; it is tried again later')
      })
      .finally(() => void mailing.delete(sent))
    mailing.add(sent)
  }

  const timer = setInterval(() => (running ??= run().finally(() => (running = undefined))), INTERVAL_MS)
  return {
    async stop() {
      isStopped = true
      clearInterval(timer)
      await running
      await within(STOP_TIMEOUT_MS, Promise.all(mailing))
    },
  }
}
