import type { Config } from '../../config.ts'
import { toLanguage } from '../../core/languages.ts'
import type { Mail } from '../../mail/mailer.ts'
import type { Recipient } from '../../mail/text.ts'
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
  const { slug, community, people } = await findRecipients(sql, communityId, alert.kind)
  const address = `${config.publicUrl}/console/${slug}/alerts`
  for (const person of people) await send(alertMail(toRecipient(person), alert, { community, address }))
}

const KIND_OF: Record<RunKind, AlertKind> = { backup: 'backup_failed', disk: 'disk_low' }

/** The same for what concerns the whole service, and those who own all of it. */
export async function raiseForService(
  { sql, config, send }: TellDeps,
  run: RunKind,
  reason: string,
  detail: Record<string, string | number> = { reason },
): Promise<void> {
  if (!(await recordFailure(sql, run, reason))) return
  const kind = KIND_OF[run]
  const address = `${config.publicUrl}/console/`
  for (const person of await serviceRecipients(sql, kind)) {
    await send(alertMail(toRecipient(person), { kind, detail }, { community: undefined, address }))
  }
}

function toRecipient({ email, language }: { email: string; language: string | null }): Recipient {
  return { email, language: toLanguage(language) }
}
