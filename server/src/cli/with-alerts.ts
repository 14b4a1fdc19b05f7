import { pino } from 'pino'
import type { Config } from '../config.ts'
import type { TellDeps } from '../features/alerts/tell-people.ts'
import { openMailer } from '../mail/mailer.ts'
import type { Sql } from '../postgres/connect.ts'

/** For a command that has something to tell: its mails are sent before it ends. */
export async function withAlerts(sql: Sql, config: Config, work: (deps: TellDeps) => Promise<void>): Promise<void> {
  const mailer = openMailer(config, pino({ level: 'silent' }))
  try {
    await work({ sql, config, send: mailer.sendNow })
  } finally {
    mailer.close()
  }
}
