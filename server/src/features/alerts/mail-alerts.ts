import type { Config } from '../../config.ts'
import type { Mail } from '../../mail/mailer.ts'
import { toRecipient } from '../../mail/text.ts'
import { listDueAlerts, serviceRecipients } from '../../postgres/alert-causes.ts'
import type { Queries } from '../../postgres/connect.ts'
import type { AlertKind } from './kinds.ts'
import { alertMail } from './mails.ts'
import { claimAlertMail, findRecipients, finishAlertMail, raiseAlert, type NewAlert } from './queries.ts'
import { claimFailureMail, finishFailureMail, listDueFailures, recordFailure, type RunKind } from './run-queries.ts'

/**
 * An alert is mailed at least once: a mail that is sent twice costs a glance, one that is lost may cost the backup. The
 * lease is longer than a process usually tries to send a mail: six minutes and the timeouts of four attempts. Behind a long
 * queue it takes longer, and the mail may be sent twice.
 */
const LEASE_SECONDS = 15 * 60
/** Later the console shows it, and nobody needs the mail any more. */
const AGE_MAX_SECONDS = 24 * 60 * 60
/** Per run; the rest follows in the next. */
const MAILS_MAX = 200

export interface AlertMailDeps {
  sql: Queries
  config: Pick<Config, 'publicUrl'>
  /** Resolves when the mail was sent or given up. Undefined without a mail server; another process may have one. */
  send: ((mail: Mail) => unknown) | undefined
}

/** For a command: opens an alert of a community and mails it, unless it is open already. */
export async function raise(deps: AlertMailDeps, communityId: number, alert: NewAlert): Promise<void> {
  const id = await raiseAlert(deps.sql, communityId, alert, { isMailed: true })
  if (id !== undefined) await mailAlert(deps, communityId, id)
}

const KIND_OF: Record<RunKind, AlertKind> = { backup: 'backup_failed', disk: 'disk_low' }

/** The same for what concerns the whole service, and those who own all of it. */
export async function raiseForService(deps: AlertMailDeps, run: RunKind, reason: string): Promise<void> {
  await recordFailure(deps.sql, run, reason, { reason })
  await mailFailure(deps, run)
}

/** Mails what was just raised, and what a process began to mail before it died. */
export async function mailDue(deps: AlertMailDeps, isStopped: () => boolean = () => false): Promise<void> {
  if (!deps.send) return
  const due = await listDueAlerts(deps.sql, { ageMaxSeconds: AGE_MAX_SECONDS, limit: MAILS_MAX })
  for (const { community_id, id } of due) {
    if (isStopped()) return
    await mailAlert(deps, community_id, id)
  }
  for (const { kind } of await listDueFailures(deps.sql, AGE_MAX_SECONDS)) {
    if (isStopped()) return
    await mailFailure(deps, kind)
  }
}

async function mailAlert({ sql, config, send }: AlertMailDeps, communityId: number, id: number): Promise<void> {
  if (!send) return
  const alert = await claimAlertMail(sql, communityId, id, LEASE_SECONDS)
  if (!alert) return
  const { slug, community, people } = await findRecipients(sql, communityId, alert.kind)
  const address = `${config.publicUrl}/console/${slug}/alerts`
  const mails = people.map((person) => alertMail(toRecipient(person), alert, { community, address }))
  await sendAll(mails, send, () => finishAlertMail(sql, communityId, id))
}

async function mailFailure({ sql, config, send }: AlertMailDeps, run: RunKind): Promise<void> {
  if (!send) return
  const failure = await claimFailureMail(sql, run, LEASE_SECONDS)
  if (!failure) return
  const alert = { kind: KIND_OF[run], detail: failure.detail }
  const place = { community: undefined, address: `${config.publicUrl}/console/` }
  const people = await serviceRecipients(sql, alert.kind)
  const mails = people.map((person) => alertMail(toRecipient(person), alert, place))
  await sendAll(mails, send, () => finishFailureMail(sql, run, failure.failed_at))
}

/**
 * Rejects if a mail could not be sent. Unless all of them failed, the alert counts as mailed: another process would send it
 * once more to everybody, because of one address that is refused.
 */
async function sendAll(
  mails: Mail[],
  send: NonNullable<AlertMailDeps['send']>,
  finish: () => Promise<void>,
): Promise<void> {
  const results = await Promise.allSettled(mails.map(async (mail) => send(mail)))
  const failed = results.filter((result) => result.status === 'rejected')
  if (mails.length === 0 || failed.length < mails.length) await finish()
  if (failed[0]) throw failed[0].reason
}
