import { addressesOf } from '../core/database-address.ts'
import { Refusal } from '../core/refusal.ts'
import { transaction, type Sql } from './connect.ts'
import { lockMigrations } from './migrate.ts'
import { quoteName } from './statement.ts'

const MAINTAIN_VERSION = 170_000

/** Returns the role that an address names, which is also the default of libpq for the database. */
export function roleOf(url: string): string {
  return decodeURIComponent(new URL(addressesOf(url)[0]!).username)
}

/**
 * Grants the service's role what it needs: reading and writing rows, nothing else. It owns no table, so it can neither
 * change nor drop one. Runs as the owner after each migration; under the lock, because concurrent grants fail.
 */
export async function grantToService(owner: Sql, role: string): Promise<void> {
  const name = quoteName(role)
  await transaction(owner, async (tx) => {
    await lockMigrations(tx)
    const [server] = await tx<[{ version: number }]>`select current_setting('server_version_num')::int4 as version`
    // For ANALYZE after an import. Before version 17 only owners could do that, and autovacuum does it later.
    const rights = `select, insert, update, delete${server.version >= MAINTAIN_VERSION ? ', maintain' : ''}`
    await tx.unsafe(`
      grant usage on schema public to ${name};
      grant ${rights} on all tables in schema public to ${name};
      revoke insert, update, delete on schema_migrations from ${name};
      grant usage, select, update on all sequences in schema public to ${name};
      grant execute on all functions in schema public to ${name};
      alter default privileges in schema public grant ${rights} on tables to ${name}`)
  })
}

/** `updated_since` must not miss a transaction of any role (decision 7), so the service has to see all sessions. */
export async function requireSessionsVisible(service: Sql): Promise<void> {
  const [row] = await service<[{ role: string; is_able: boolean }]>`
    select current_user::text as role, pg_has_role('pg_read_all_stats', 'usage') as is_able`
  if (row.is_able) return
  throw new Refusal(
    `The database role ${row.role} must see the sessions of all roles. Run once, as a superuser: ` +
      `grant pg_read_all_stats to ${quoteName(row.role)}`,
  )
}
