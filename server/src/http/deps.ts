import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Sql } from '../db/connect.ts'
import type { Access } from './access/access.ts'
import type { CallLog } from './call-log.ts'
import type { Metrics } from './metrics.ts'
import type { RateLimits } from './rate-limit.ts'
import type { SecretBox } from './secret-box.ts'

/** What routes are built from. */
export interface Deps {
  readonly config: Config
  readonly log: Logger
  /** The pool of the requests. Long work has a pool of its own: statements queue up behind a slow one. */
  readonly sql: Sql
  /** Of the database; cursors carry it, a restore renews it. */
  readonly epoch: () => Promise<string>
  readonly access: Access
  readonly rateLimits: RateLimits
  readonly callLog: CallLog
  readonly metrics: Metrics
  /** Seals what is stored. */
  readonly box: SecretBox
  /** Something was changed that may have to be delivered. */
  readonly wakeDeliveries: () => void
}
