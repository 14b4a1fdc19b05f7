import { formatHours } from '../../parts/hours.tsx'
import type { Alert, AlertKind } from '../../wire.ts'

/** What people choose from. */
export const ALERT_NAMES: Record<AlertKind, string> = {
  webhook_failing: 'A webhook has not arrived for an hour',
  webhook_disabled: 'A webhook was switched off',
  hours_nearly_used: 'A partner has credited 80 % of its hours of the day',
  hours_used: 'A partner has used up its hours of the day',
  calls_rejected: 'Many calls were rejected within minutes',
  credentials_expiring: 'Credentials expire within two weeks',
  ledger_wrong: 'The books were found to be wrong',
  backup_failed: 'A backup failed',
  disk_low: 'The disk of the database is nearly full',
}

type Detail = Alert['detail']

const SENTENCES: Record<AlertKind, (detail: Detail) => string> = {
  webhook_failing: ({ partner }) => `Nothing arrives at a webhook of ${partner}`,
  webhook_disabled: ({ partner }) => `A webhook of ${partner} was switched off`,
  hours_nearly_used: (detail) => `${detail['partner']} had credited ${hours(detail)} of its day`,
  hours_used: (detail) => `${detail['partner']} used up its hours of the day (${hours(detail)})`,
  calls_rejected: ({ partner, calls, minutes }) =>
    `${calls} calls of ${partner || 'unknown callers'} were rejected within ${minutes} minutes`,
  credentials_expiring: ({ partner, client_id }) => `The credentials ${client_id} of ${partner} expire soon`,
  ledger_wrong: ({ differences }) => `The books are wrong in ${differences} ${differences === 1 ? 'place' : 'places'}`,
  backup_failed: ({ reason }) => `The last backup failed: ${reason}`,
  disk_low: ({ reason }) => String(reason),
}

export function alertText({ kind, detail }: Alert): string {
  return SENTENCES[kind](detail)
}

function hours({ centihours, limit_centihours }: Detail): string {
  return `${formatHours(Number(centihours) / 100)} of ${formatHours(Number(limit_centihours) / 100)}`
}
