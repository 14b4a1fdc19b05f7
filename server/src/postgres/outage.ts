/** SQLSTATE classes: connection exception, insufficient resources, operator intervention. */
const OUTAGE_CLASSES = new Set(['08', '53', '57'])
/** A write to a read-only server: the primary has become a standby. */
export const READ_ONLY_TRANSACTION = '25006'

/** Connecting failed, the connection was lost, or the server did not answer in time. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
  readonly code: string

  constructor(message: string, options?: { cause: unknown }) {
    super(message, options)
    this.code = (options?.cause as { code?: string } | undefined)?.code ?? 'CONNECTION_LOST'
  }
}

/** Whether an error means that the database is unavailable, as opposed to a faulty statement. */
export function isOutage(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return false
  return code === READ_ONLY_TRANSACTION || OUTAGE_CLASSES.has(code.slice(0, 2))
}
