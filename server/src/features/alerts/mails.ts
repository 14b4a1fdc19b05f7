import type { Mail } from '../../mail/mailer.ts'
import { oneLine, paragraphs } from '../../mail/text.ts'
import { toHours } from '../../core/hours.ts'
import { ALERT_KINDS, type AlertKind } from './kinds.ts'

const HOW_TO_CHANGE = 'You choose what you are told of on your account page in the console.'

const DAY_LENGTH = '2026-01-31'.length

type Detail = Record<string, string | number>

/** What happened, in a sentence. Names are chosen by others, so they are shortened to one line. */
const SENTENCES: Record<AlertKind, (detail: Detail) => string> = {
  webhook_failing: ({ partner }) => `Nothing has arrived at a webhook of ${nameOf(partner)} for an hour.`,
  webhook_disabled: ({ partner }) => `A webhook of ${nameOf(partner)} was disabled. Nothing is sent to it any more.`,
  hours_nearly_used: (detail) => `${nameOf(detail['partner'])} has credited ${hoursOf(detail)} of its hours of today.`,
  hours_used: (detail) =>
    `${nameOf(detail['partner'])} has used up its hours of today (${hoursOf(detail)}). Further credits are rejected.`,
  calls_rejected: ({ partner, calls, minutes }) =>
    `${calls} calls of ${partner ? nameOf(partner) : 'unknown callers'} were rejected within ${minutes} minutes.`,
  credentials_expiring: ({ partner, client_id, expires_at }) =>
    `The credentials ${client_id} of ${nameOf(partner)} expire on ${String(expires_at).slice(0, DAY_LENGTH)} (UTC).`,
  ledger_wrong: ({ differences }) =>
    `ledger verify found ${differences} differences. The operator has to look at them.`,
  backup_failed: ({ reason }) => `The last backup failed: ${nameOf(reason)}`,
  disk_low: ({ reason }) => nameOf(reason),
}

export function alertMail(
  to: string,
  { kind, detail }: { kind: AlertKind; detail: Detail },
  { community, address }: { community: string | undefined; address: string },
): Mail {
  const { text } = ALERT_KINDS[kind]
  return {
    to,
    subject: community === undefined ? text : `${oneLine(community)}: ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
    text: paragraphs(SENTENCES[kind](detail), address, HOW_TO_CHANGE),
  }
}

function nameOf(text: string | number | undefined): string {
  return oneLine(String(text ?? ''))
}

function hoursOf({ centihours, limit_centihours }: Detail): string {
  return `${toHours(Number(centihours))} of ${toHours(Number(limit_centihours))} h`
}
