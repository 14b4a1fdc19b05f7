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

/** A delivery whose recipient lacked access when it was read. */
export interface Hold {
  id: number
  subscriptionId: number
  claims: number
  reasonToHold: (access: Access) => string | undefined
}

/**
 * Holds deliveries for lack of access. Checks again under a lock that a change of access waits for; otherwise access
 * could be restored, and held deliveries released, just before these are held. Where access has returned, they are due.
 *
 * Returns the ids of those for which that is done. It waits for no lock: a change of access and a replay may hold theirs
 * for many seconds, and deliveries of all communities would wait behind.
 */
export async function holdDeliveries(sql: Sql, communityId: number, holds: Hold[], now: Date): Promise<Set<number>> {
  return transaction(sql, async (tx) => {
    const found = await tx<(Access & { subscription_id: number })[]>`
      select s.id as subscription_id, p.status as partner_status, p.scopes as partner_scopes,
        ${clientState(tx)} as client_status, c.scopes as client_scopes, s.scopes as subscription_scopes
      from subscriptions s
      join partners p on p.community_id = ${communityId} and p.id = s.partner_id
      join clients c on c.community_id = ${communityId} and c.id = s.client_id
      where s.community_id = ${communityId} and s.id = any (${holds.map((hold) => hold.subscriptionId)}::int8[])
      for share of p, c skip locked`
    const accesses = new Map(found.map((access) => [access.subscription_id, access]))
    const checked = holds.flatMap(({ id, claims, subscriptionId, reasonToHold }) => {
      const access = accesses.get(subscriptionId)
      return access ? [{ id, claims, reason: reasonToHold(access) ?? null }] : []
    })
    const ids = checked.map(({ id }) => id)
    const done = await tx<{ id: number }[]>`
      with input as materialized (
        select * from unnest(${ids}::int8[], ${checked.map(({ claims }) => claims)}::int4[],
          ${checked.map(({ reason }) => reason)}::text[]) as i(id, claims, reason)
      ), locked as materialized (
        select id, claims, status from deliveries
        where community_id = ${communityId} and id = any (${ids}::int8[])
        order by subscription_id, event_id for no key update skip locked
      ), valid as materialized (
        select i.id, i.reason from input i join locked l using (id, claims) where l.status = 'pending'
      )
      update deliveries d set status = case when v.reason is null then 'pending' else 'held' end,
        held_reason = v.reason, next_attempt_at = ${now}::timestamptz
      from valid v
      where d.community_id = ${communityId} and d.id = v.id
      returning d.id`
    return new Set(done.map(({ id }) => id))
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
