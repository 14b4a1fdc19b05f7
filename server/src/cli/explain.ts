import { ConfigError } from '../config.ts'
import { isMixedUp } from '../postgres/client.ts'
import { isOutage } from '../postgres/connect.ts'
import { isDiskFull, isOutOfSpace } from '../postgres/embedded/disk-space.ts'
import { AlreadyRunning } from '../postgres/embedded/embedded.ts'
import { NewerDatabase, WrongEncoding } from '../postgres/migrate.ts'
import { Refusal } from '../core/refusal.ts'
import { settingOf } from './database-setting.ts'

const EXPECTED = [Refusal, ConfigError, AlreadyRunning, NewerDatabase, WrongEncoding]
const EMBEDDED_DISK_FULL =
  'The disk is full. Free space on it, or set DATA_DIR to a folder on another one, and start again.'
/** Of a file that the user may not read or write. */
const FILE_DENIED = new Set(['EACCES', 'EPERM', 'EROFS'])
const PERMISSION_DENIED = '42501'
/** Wrong password, unknown role, unknown database: SQLSTATE classes 28 and 3D. */
const CONNECTION_REJECTED = /^(28|3D)/

/** Returns one clear message for errors that the user can fix, and a stack for bugs. */
export function explain(error: unknown): string {
  const { code, message, stack, path } = error as NodeJS.ErrnoException
  const known = settingOf(error)
  const { name: setting, owner } = known ?? { name: 'DATABASE_URL' }
  // First: it is also an outage, and the reason why the embedded database does not start.
  if (isDiskFull(error) || isOutOfSpace(error)) {
    if (known?.name === 'DATA_DIR') return EMBEDDED_DISK_FULL
    const disk = code === 'ENOSPC' ? 'The disk' : 'The disk of the database server'
    return `${disk} is full: ${message}. Free space on it, and try again.`
  }
  if (EXPECTED.some((kind) => error instanceof kind)) return message
  if (isOutage(error))
    return `The database cannot be reached (${code}): ${message}. Check ${setting}, and that the server is running.`
  if (code === PERMISSION_DENIED) {
    const advice = owner
      ? `Set ${owner} to the role that owns the database and run this again.`
      : 'Run: npx hourbank migrate, with MIGRATION_DATABASE_URL set to the role that owns the tables.'
    return `The database role of ${setting} lacks a permission: ${message}. ${advice}`
  }
  if (code && CONNECTION_REJECTED.test(code))
    return `The database rejects the connection: ${message}. Check ${setting}.`
  if (isMixedUp(error))
    return `The database cannot be used: ${message}. Check ${setting}, and all other addresses that lead through the pooler.`
  if (path !== undefined && code && FILE_DENIED.has(code))
    return `${path} cannot be read or written (${code}). Change its permissions, or run this as the user it belongs to.`
  // For example the sslrootcert of DATABASE_URL.
  if (path !== undefined && code === 'ENOENT') return `${path} does not exist.`
  return stack ?? String(error)
}
