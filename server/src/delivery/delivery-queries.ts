import type { Actor } from '../features/audit/record.ts'
import { recordAudits } from '../features/audit/record-many.ts'
import { type Fragment, type Queries, type Sql, transaction } from '../postgres/connect.ts'
import { FAILING_GAP_MS, FAILING_MAX_MS } from './schedule.ts'

/** Of the stored time of the last success. */
const SUCCESS_PRECISION_MS = 60_000
const WORKER: Actor = { kind: 'system', name: 'deliveries' }

/** What decides whether a recipient may get an event. */
export interface Access {
  partner_status: string
  partner_scopes: string[]
  client_status: string
  client_scopes: string[]
  /** Of the token that created the subscription. */
  subscription_scopes: string[]
}

/** The status of the client `c`: one that has expired counts as little as one that is revoked. */
export function clientState(sql: Queries): Fragment {
  return sql`case when c.status = 'active' and c.expires_at <= now() then 'expired' else c.status end`
}

/**
 * Stores the last success, to the minute, or since which attempt all have failed. Locks only rows that change. Not part
 * of the statement that records completions, so that neither waits for the other's locks while the subscription is
 * deleted.
 */
export async function noteHealth(
  sql: Queries,
  communityId: number,
  attempts: { subscriptionId: number; at: Date; ok: boolean }[],
  now: Date,
): Promise<void> {
  await sql`
    with input as materialized (
      -- One success among them shows that the receiver works.
      select id, bool_or(ok) as ok, min(at) as at
      from unnest(${attempts.map(({ subscriptionId }) => subscriptionId)}::int8[], ${attempts.map(({ at }) => at)}::timestamptz[],
        ${attempts.map(({ ok }) => ok)}::bool[]) as i(id, at, ok)
      group by id
    ), changing as materialized (
      select s.id, i.ok, i.at from input i join subscriptions s on s.community_id = ${communityId} and s.id = i.id
      where case when i.ok
        then s.failing_since is not null or s.last_success_at is null
          or s.last_success_at < ${new Date(now.getTime() - SUCCESS_PRECISION_MS)}::timestamptz
        else s.failing_since is null end
      order by s.id for no key update of s
    )
    update subscriptions s set
      last_success_at = case when c.ok then ${now}::timestamptz else s.last_success_at end,
      failing_since = case when c.ok then null else coalesce(s.failing_since, c.at) end
    from changing c
    where s.community_id = ${communityId} and s.id = c.id`
}

/**
 * Holds a delivery for lack of access. Checks again under a lock that a change of access waits for; otherwise access
 * could be restored, and held deliveries released, just before this one is held.
 */
export async function holdDelivery(
  sql: Sql,
  communityId: number,
  { id, claims, subscriptionId }: { id: number; claims: number; subscriptionId: number },
  reasonToHold: (access: Access) => string | undefined,
  now: Date,
): Promise<void> {
  await transaction(sql, async (tx) => {
    const [access] = await tx<Access[]>`
      select p.status as partner_status, p.scopes as partner_scopes, ${clientState(tx)} as client_status,
        c.scopes as client_scopes, s.scopes as subscription_scopes
      from subscriptions s
      join partners p on p.community_id = ${communityId} and p.id = s.partner_id
      join clients c on c.community_id = ${communityId} and c.id = s.client_id
      where s.community_id = ${communityId} and s.id = ${subscriptionId} for share of p, c`
    // Deleted meanwhile, with its deliveries.
    if (!access) return
    const reason = reasonToHold(access)
    await tx`
      update deliveries set status = ${reason === undefined ? 'pending' : 'held'}, held_reason = ${reason ?? null},
        next_attempt_at = ${now}
      where community_id = ${communityId} and id = ${id} and claims = ${claims} and status = 'pending'`
  })
}

/**
 * Disables subscriptions whose attempts have all failed for too long, and returns those. First it moves `failing_since`
 * behind the last gap between two attempts: during a gap, the receiver may have been well.
 */
export async function disableFailing(
  sql: Queries,
  communityId: number,
  subscriptionIds: number[],
  now: Date,
): Promise<number[]> {
  const failingTooLong = (tx: Queries) => tx`
    id = any (${subscriptionIds}::int8[]) and status = 'active'
      and failing_since <= ${new Date(now.getTime() - FAILING_MAX_MS)}::timestamptz`
  const [candidate] =
    await sql`select 1 from subscriptions where community_id = ${communityId} and ${failingTooLong(sql)}`
  if (!candidate) return []
  await sql`
    with attempt as (
      select s.id, a.at, a.at - lag(a.at) over (partition by s.id order by a.at)
        > make_interval(secs => ${FAILING_GAP_MS / 1000}) as is_after_gap
      from subscriptions s
      join deliveries d on d.community_id = ${communityId} and d.subscription_id = s.id
      join attempts a on a.community_id = ${communityId} and a.delivery_id = d.id and a.at >= s.failing_since
      where s.community_id = ${communityId} and s.id in (
        select id from subscriptions where community_id = ${communityId} and ${failingTooLong(sql)})
    ), streak as (
      select id, coalesce(max(at) filter (where is_after_gap), min(at)) as since from attempt group by id
    )
    update subscriptions s set failing_since = k.since from streak k
    where s.community_id = ${communityId} and s.id = k.id and s.failing_since < k.since`
  return disable(sql, communityId, 'Nothing but failures for five days', now, failingTooLong)
}

/** Unless it has another address meanwhile. */
export async function disableSubscription(
  sql: Queries,
  communityId: number,
  { id, targetUrl }: { id: number; targetUrl: string },
  reason: string,
  now: Date,
): Promise<void> {
  await disable(sql, communityId, reason, now, (tx) => {
    return tx`id = ${id} and target_url = ${targetUrl} and status <> 'disabled'`
  })
}

async function disable(
  sql: Queries,
  communityId: number,
  reason: string,
  now: Date,
  which: (tx: Queries) => Fragment,
): Promise<number[]> {
  return transaction(sql, async (tx) => {
    const rows = await tx<{ id: number }[]>`
      update subscriptions set status = 'disabled', status_reason = ${reason}, status_changed_at = ${now}, updated_at = ${now}
      where community_id = ${communityId} and ${which(tx)} returning id`
    await recordAudits(
      tx,
      communityId,
      WORKER,
      rows.map(({ id }) => ({
        action: 'subscription.disabled',
        subject: { kind: 'subscription', id },
        detail: { reason },
      })),
    )
    return rows.map(({ id }) => id)
  })
}
