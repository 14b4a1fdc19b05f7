import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Sql } from '../postgres/connect.ts'
import type { Disguise } from '../crypto/disguise.ts'
import type { SecretBox } from '../crypto/secret-box.ts'
import type { KeySets } from './partner/key-sets.ts'
import type { ConsoleFrameDeps } from './console/admin-frame.ts'
import type { FileWork } from './console/file-work.ts'
import type { ConsoleReads } from './console/reads.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { PartnerFrameDeps } from './partner/frame.ts'
import type { SignInLimits } from './console/sign-in-limits.ts'

/** The dependencies of the routes. */
export interface Deps extends PartnerFrameDeps, ConsoleFrameDeps {
  readonly config: Config
  readonly log: Logger
  /** The pool for requests. Slow work has separate pools, because statements queue behind it. */
  readonly sql: Sql
  /** For slow work of administrators: the overview, new communities, bulk changes. */
  readonly longSql: Sql
  /** For imports of administrators. */
  readonly files: FileWork
  /** For lists and exports of administrators: on a replica, if there is one. */
  readonly reads: ConsoleReads
  /** For exports and replays of partners, who must not keep administrators waiting. */
  readonly partnerFiles: FileWork
  /** The database's epoch: part of every cursor, renewed by a restore. */
  readonly epoch: () => Promise<string>
  readonly signInLimits: SignInLimits
  readonly box: SecretBox
  readonly mailer: Mailer
  /** The keys that clients publish. */
  readonly keySets: KeySets
  /** Encrypts the positions in cursors that would reveal how much happens. */
  readonly cursorBox: SecretBox
  /** For ids that come from a sequence of all communities, where partners would see them. */
  readonly sharedIds: Disguise
}
