import type { Actor } from '../features/audit/record.ts'
import { recordAudits } from '../features/audit/record-many.ts'
import { type Fragment, type Queries, type Sql, transaction } from '../postgres/connect.ts'

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
 * Stores the last success, to the minute, or since when all attempts have failed. Locks only rows that change. Not part
 * of the statement that records completions, so that neither waits for the other's locks while the subscription is
 * deleted.
 */
export async function noteHealth(
  sql: Queries,
  communityId: number,
  isSuccess: Map<number, boolean>,
  now: Date,
): Promise<void> {
  await sql`
    with input as materialized (
      select * from unnest(${[...isSuccess.keys()]}::int8[], ${[...isSuccess.values()]}::bool[]) as i(id, ok)
    ), changing as materialized (
      select s.id, i.ok from input i join subscriptions s on s.community_id = ${communityId} and s.id = i.id
      where case when i.ok
        then s.failing_since is not null or s.last_success_at is null
          or s.last_success_at < ${new Date(now.getTime() - SUCCESS_PRECISION_MS)}::timestamptz
        else s.failing_since is null end
      order by s.id for no key update of s
    )
    update subscriptions s set
      last_success_at = case when c.ok then ${now}::timestamptz else s.last_success_at end,
      failing_since = case when c.ok then null else coalesce(s.failing_since, ${now}::timestamptz) end
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

/** Disables subscriptions whose attempts have all failed since then. Returns those that were disabled. */
export async function disableFailing(
  sql: Queries,
  communityId: number,
  subscriptionIds: number[],
  failingSince: Date,
  now: Date,
): Promise<number[]> {
  return disable(sql, communityId, 'Nothing but failures for five days', now, (tx) => {
    return tx`id = any (${subscriptionIds}::int8[]) and status = 'active' and failing_since <= ${failingSince}`
  })
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
