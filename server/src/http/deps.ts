import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Sql } from '../postgres/connect.ts'
import type { SecretBox } from '../crypto/secret-box.ts'
import type { ConsoleFrameDeps } from './console/admin-frame.ts'
import type { FileWork } from './console/file-work.ts'
import type { PartnerFrameDeps } from './partner/frame.ts'
import type { SignInLimits } from './console/sign-in-limits.ts'

/** What routes are built from. */
export interface Deps extends PartnerFrameDeps, ConsoleFrameDeps {
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
  readonly signInLimits: SignInLimits
  /** Seals what is stored. */
  readonly box: SecretBox
}
