import type { Queries } from '../../postgres/connect.ts'

export interface AttemptCount {
  count: number
  resetSeconds: number
}

/**
 * Counts an attempt in the key's window, which starts with its first attempt. Stops at `max` + 1: a flood of rejected
 * attempts changes no row.
 */
export async function countAttempt(
  sql: Queries,
  key: Buffer,
  { max, windowSeconds }: { max: number; windowSeconds: number },
): Promise<AttemptCount> {
  const [counted] = await sql<AttemptCount[]>`
    insert into attempt_counts as c (key, count, ends_at)
    values (${key}, 1, now() + make_interval(secs => ${windowSeconds}))
    on conflict (key) do update set
      count = case when c.ends_at <= now() then 1 else c.count + 1 end,
      ends_at = case when c.ends_at <= now() then excluded.ends_at else c.ends_at end
    where c.count <= ${max} or c.ends_at <= now()
    returning count, ${secondsLeft(sql)} as "resetSeconds"`
  if (counted) return counted
  const [full] = await sql<AttemptCount[]>`
    select count, ${secondsLeft(sql)} as "resetSeconds" from attempt_counts where key = ${key}`
  return full ?? { count: max + 1, resetSeconds: windowSeconds }
}

function secondsLeft(sql: Queries) {
  return sql`greatest(1, ceil(extract(epoch from ends_at - now())))::int4`
}

/** As accounts are found: JavaScript's own `toLowerCase` tells 'İ' from 'i', for which PostgreSQL finds the same account. */
export async function foldCase(sql: Queries, email: string): Promise<string> {
  const [row] = await sql<[{ email: string }]>`select lower(${email}::text) as email`
  return row.email
}

export async function uncountAttempt(sql: Queries, keys: Buffer[]): Promise<void> {
  await sql`update attempt_counts set count = count - 1 where key = any (${keys}::bytea[]) and count > 0`
}

export async function resetAttempts(sql: Queries, key: Buffer): Promise<void> {
  await sql`delete from attempt_counts where key = ${key}`
}
