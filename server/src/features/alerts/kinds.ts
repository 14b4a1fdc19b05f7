/** What administrators are told of. `of`: a community, or the whole service and those who own all of it. */
export const ALERT_KINDS = {
  webhook_failing: { of: 'community', text: 'Nothing has arrived at an endpoint for an hour' },
  webhook_disabled: { of: 'community', text: 'An endpoint was disabled' },
  hours_nearly_used: { of: 'community', text: 'A partner has credited 80 % of its hours of the day' },
  hours_used: { of: 'community', text: 'A partner has used up its hours of the day' },
  calls_rejected: { of: 'community', text: 'Many calls were rejected within minutes' },
  credentials_expiring: { of: 'community', text: 'Credentials expire within two weeks' },
  ledger_wrong: { of: 'community', text: 'ledger verify found a difference in the books' },
  backup_failed: { of: 'service', text: 'A backup failed' },
  disk_low: { of: 'service', text: 'The disk of the database is nearly full' },
} as const

export type AlertKind = keyof typeof ALERT_KINDS
export const ALERT_KIND_NAMES = Object.keys(ALERT_KINDS) as AlertKind[]
