export type Role = 'owner' | 'manager' | 'viewer'

/** The paragraphs of a mail, and its subject. */
export interface MailText {
  subject: string
  text: string[]
}

/** What happened to a second factor. */
export type FactorChange = 'app_added' | 'app_removed' | 'codes_replaced' | 'passkey_added' | 'passkey_removed'

/** The values of an alert, written as the language writes them. */
interface AlertValues {
  webhook_failing: { partner: string }
  webhook_disabled: { partner: string }
  hours_nearly_used: { partner: string; hours: string; limit: string }
  hours_used: { partner: string; hours: string; limit: string }
  /** Without a partner, nobody knows who called. */
  calls_rejected: { partner: string; calls: string; minutes: string }
  credentials_expiring: { partner: string; client: string; day: string }
  ledger_wrong: { differences: string }
  backup_failed: { reason: string }
  disk_low: { megabytes: string }
}

/** Everything that mails say in one language. The compiler asks for what is missing. */
export interface MailWords {
  invitation(values: { community: string; role: Role; link: string; consoleUrl: string }): MailText
  reset(values: { link: string }): MailText
  newBrowser(values: { address: string | undefined; browser: string | undefined }): MailText
  passwordChanged(): MailText
  secondFactor(values: { change: FactorChange }): MailText
  role(values: { community: string; role: Role }): MailText
  roleEnded(values: { community: string }): MailText
  alert: {
    inCommunity(values: { community: string; what: string }): string
    howToChange: string
    titles: Record<keyof AlertValues, string>
    sentences: { [Kind in keyof AlertValues]: (values: AlertValues[Kind]) => string }
  }
}
