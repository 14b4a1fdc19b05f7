import type { Config } from '../../config.ts'
import type { Mail } from '../../mail/mailer.ts'
import { serviceRecipients } from '../../postgres/alert-causes.ts'
import type { Queries } from '../../postgres/connect.ts'
import type { AlertKind } from './kinds.ts'
import { alertMail } from './mails.ts'
import { findRecipients, raiseAlert, type NewAlert } from './queries.ts'
import { recordFailure, type RunKind } from './run-queries.ts'

export interface TellDeps {
  sql: Queries
  config: Pick<Config, 'publicUrl'>
  /** How a mail is sent: in the background by the service, at once by a command. */
  send: (mail: Mail) => unknown
}

/** Opens an alert of a community and tells those who want to hear of it, unless it is open already. */
export async function raise(
  { sql, config, send }: TellDeps,
  communityId: number,
  alert: NewAlert,
  { isMailed = true } = {},
): Promise<void> {
  if (!(await raiseAlert(sql, communityId, alert)) || !isMailed) return
  const { slug, community, emails } = await findRecipients(sql, communityId, alert.kind)
  const address = `${config.publicUrl}/console/${slug}/alerts`
  for (const email of emails) await send(alertMail(email, alert, { community, address }))
}

const KIND_OF: Record<RunKind, AlertKind> = { backup: 'backup_failed', disk: 'disk_low' }

/** The same for what concerns the whole service, and those who own all of it. */
export async function raiseForService({ sql, config, send }: TellDeps, run: RunKind, reason: string): Promise<void> {
  if (!(await recordFailure(sql, run, reason))) return
  const kind = KIND_OF[run]
  const address = `${config.publicUrl}/console/`
  for (const email of await serviceRecipients(sql, kind)) {
    await send(alertMail(email, { kind, detail: { reason } }, { community: undefined, address }))
  }
}
