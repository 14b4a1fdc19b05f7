import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Sql } from '../db/connect.ts'
import type { Access } from './access/access.ts'
import type { CallLog } from './call-log.ts'
import type { FileWork } from './file-work.ts'
import type { Metrics } from './metrics.ts'
import type { RateLimits } from './rate-limit.ts'
import type { SecretBox } from './secret-box.ts'
import type { SignInLimits } from './sign-in-limits.ts'

/** What routes are built from. */
export interface Deps {
  readonly config: Config
  readonly log: Logger
  /** The pool of the requests. Long work has a pool of its own: statements queue up behind a slow one. */
  readonly sql: Sql
  /** For what an administrator asks that takes long: the overview, new communities, changes of many rows. */
  readonly longSql: Sql
  /** For imports and exports. */
  readonly files: FileWork
  /** Of the database; cursors carry it, a restore renews it. */
  readonly epoch: () => Promise<string>
  readonly access: Access
  readonly rateLimits: RateLimits
  readonly signInLimits: SignInLimits
  readonly callLog: CallLog
  readonly metrics: Metrics
  /** Seals what is stored. */
  readonly box: SecretBox
  /** Something was changed that may have to be delivered. */
  readonly wakeDeliveries: () => void
}
