import { pino } from 'pino'
import type { Config } from '../config.ts'
import type { TellDeps } from '../features/alerts/tell-people.ts'
import { openMailer } from '../mail/mailer.ts'
import type { Sql } from '../postgres/connect.ts'

/** For a command that has something to tell: mails before it ends, or without SMTP_URL leaves that to the service. */
export async function withAlerts(sql: Sql, config: Config, work: (deps: TellDeps) => Promise<void>): Promise<void> {
  const mailer = openMailer(config, pino({ level: 'silent' }))
  try {
    await work({ sql, config, send: mailer.isOn ? mailer.sendNow : undefined })
  } finally {
    mailer.close()
  }
}
