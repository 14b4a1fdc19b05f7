import type { Queries } from '../../postgres/connect.ts'

/** Per person; the one that was not used for the longest time goes first. */
const BROWSERS_MAX = 20

/** Whether the owner of this email address has signed in from this browser before. */
export async function isKnownBrowser(sql: Queries, email: string, tokenHash: Buffer): Promise<boolean> {
  const rows = await sql`
    select 1 from admin_browsers b join admins a on a.id = b.admin_id
    where b.token_hash = ${tokenHash} and lower(a.email) = lower(${email})`
  return rows.length > 0
}

/** Whether this is another browser than those that the person has used so far. The first one ever is not. */
export async function isNewBrowser(sql: Queries, adminId: number, tokenHash: Buffer | undefined): Promise<boolean> {
  const [row] = await sql<[{ used: number; known: boolean | null }]>`
    select count(*) as used, bool_or(token_hash = ${tokenHash ?? Buffer.alloc(0)}) as known
    from admin_browsers where admin_id = ${adminId}`
  return row.used > 0 && row.known !== true
}

/**
 * Remembers a browser under a new token. What was known under its previous token moves along, so that a token which
 * someone else planted in the browser or copied from it is worth nothing afterwards.
 */
export async function rememberBrowser(
  sql: Queries,
  adminId: number,
  { from, to }: { from: Buffer | undefined; to: Buffer },
): Promise<void> {
  if (from) await sql`update admin_browsers set token_hash = ${to} where token_hash = ${from}`
  await sql`
    insert into admin_browsers (admin_id, token_hash) values (${adminId}, ${to})
    on conflict (admin_id, token_hash) do update set last_used_at = excluded.last_used_at`
  await sql`
    delete from admin_browsers where admin_id = ${adminId} and token_hash in (
      select token_hash from admin_browsers where admin_id = ${adminId}
      order by last_used_at desc, token_hash offset ${BROWSERS_MAX})`
}

export async function forgetBrowsersOf(sql: Queries, adminId: number): Promise<void> {
  await sql`delete from admin_browsers where admin_id = ${adminId}`
}
