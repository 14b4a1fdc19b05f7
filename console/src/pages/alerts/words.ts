import type { MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import { formatNumber } from '../../language/formats.ts'
import { formatHours } from '../../parts/hours.tsx'
import type { Alert, AlertKind } from '../../wire.ts'

/** What people choose from. */
export const ALERT_NAMES: Record<AlertKind, MessageDescriptor> = {
  webhook_failing: msg`Nothing has arrived at a webhook for an hour`,
  webhook_disabled: msg`A webhook was disabled`,
  hours_nearly_used: msg`A partner has credited 80% of its hours of the day`,
  hours_used: msg`A partner has used up its hours of the day`,
  calls_rejected: msg`Many calls were rejected within minutes`,
  credentials_expiring: msg`Credentials expire within two weeks`,
  ledger_wrong: msg`The books were found to be wrong`,
  backup_failed: msg`A backup failed`,
  disk_low: msg`The disk of the database is nearly full`,
}

/** The details of an alert as words; those that its kind does not have are empty. */
type Words = Record<'partner' | 'used' | 'allowed' | 'minutes' | 'client' | 'reason' | 'megabytes', string>

const SENTENCES: Record<AlertKind, (words: Words, count: number) => string> = {
  webhook_failing: ({ partner }) => t`Nothing arrives at a webhook of ${partner}`,
  webhook_disabled: ({ partner }) => t`A webhook of ${partner} was disabled`,
  hours_nearly_used: ({ partner, used, allowed }) =>
    t`${partner} has credited ${used} of the ${allowed} allowed per day`,
  hours_used: ({ partner, used, allowed }) => t`${partner} used up its hours of the day (${used} of ${allowed})`,
  calls_rejected: ({ partner, minutes }, count) =>
    partner
      ? plural(count, {
          one: `# call of ${partner} was rejected within ${minutes} minutes`,
          other: `# calls of ${partner} were rejected within ${minutes} minutes`,
        })
      : plural(count, {
          one: `# call of unknown callers was rejected within ${minutes} minutes`,
          other: `# calls of unknown callers were rejected within ${minutes} minutes`,
        }),
  credentials_expiring: ({ client, partner }) => t`The credentials ${client} of ${partner} expire soon`,
  ledger_wrong: (_words, count) =>
    plural(count, { one: 'The books are wrong in # place', other: 'The books are wrong in # places' }),
  backup_failed: ({ reason }) => t`The last backup failed: ${reason}`,
  disk_low: ({ megabytes }) => t`The disk of the database has ${megabytes} MB left. Free space on it.`,
}

export function alertText({ kind, detail }: Alert): string {
  const { partner, centihours, limit_centihours, minutes, client_id, reason, megabytes, calls, differences } = detail
  const words = {
    partner: String(partner ?? ''),
    used: formatHours(Number(centihours) / 100),
    allowed: formatHours(Number(limit_centihours) / 100),
    minutes: formatNumber(Number(minutes)),
    client: String(client_id),
    reason: String(reason),
    megabytes: megabytes === undefined ? '' : formatNumber(Number(megabytes)),
  }
  // During an upgrade, a newer node may send a kind that this page does not know.
  return SENTENCES[kind]?.(words, Number(calls ?? differences)) ?? kind
}
