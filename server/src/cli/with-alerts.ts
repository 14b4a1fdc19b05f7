import { pino } from 'pino'
import type { Config } from '../config.ts'
import type { AlertMailDeps } from '../features/alerts/mail-alerts.ts'
import { openMailer } from '../mail/mailer.ts'
import type { Sql } from '../postgres/connect.ts'

/** For commands that raise alerts: sends the mails before the command ends. Without SMTP_URL, the service sends them. */
export async function withAlerts(
  sql: Sql,
  config: Config,
  work: (deps: AlertMailDeps) => Promise<void>,
): Promise<void> {
  const mailer = await openMailer(config, pino({ level: 'silent' }))
  try {
    await work({ sql, config, send: mailer.isOn ? mailer.sendNow : undefined })
  } finally {
    mailer.close()
  }
}
