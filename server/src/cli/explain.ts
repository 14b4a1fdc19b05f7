import { ConfigError } from '../config.ts'
import { isOutage } from '../postgres/connect.ts'
import { AlreadyRunning } from '../postgres/embedded/embedded.ts'
import { NewerDatabase } from '../postgres/migrate.ts'
import { Refusal } from '../core/refusal.ts'

const EXPECTED = [Refusal, ConfigError, AlreadyRunning, NewerDatabase]
const PERMISSION_DENIED = '42501'
/** Wrong password, unknown role, unknown database: SQLSTATE classes 28 and 3D. */
const CONNECTION_REJECTED = /^(28|3D)/

/** Returns one clear message for errors that the user can fix, and a stack for bugs. */
export function explain(error: unknown): string {
  const { code, message, stack } = error as Error & { code?: string }
  if (EXPECTED.some((kind) => error instanceof kind)) return message
  if (isOutage(error))
    return `The database cannot be reached (${code}): ${message}. Check DATABASE_URL, and that the server is running.`
  if (code === PERMISSION_DENIED)
    return `The database role of DATABASE_URL lacks a permission: ${message}. Run: npx hourbank migrate, with MIGRATION_DATABASE_URL set to the role that owns the tables.`
  if (code && CONNECTION_REJECTED.test(code))
    return `The database rejects the connection: ${message}. Check DATABASE_URL.`
  return stack ?? String(error)
}
