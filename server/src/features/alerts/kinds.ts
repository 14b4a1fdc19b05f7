/** What administrators are told of. The last two concern the whole service, and those who own all of it. */
const KINDS = [
  'webhook_failing',
  'webhook_disabled',
  'hours_nearly_used',
  'hours_used',
  'calls_rejected',
  'credentials_expiring',
  'ledger_wrong',
  'backup_failed',
  'disk_low',
] as const

export type AlertKind = (typeof KINDS)[number]
export const ALERT_KIND_NAMES: AlertKind[] = [...KINDS]
