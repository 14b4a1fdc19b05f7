import type { Actor } from '../features/audit/record.ts'
import { recordAudits } from '../features/audit/record-many.ts'
import { type Fragment, type Queries, type Sql, transaction } from '../postgres/connect.ts'

const WORKER: Actor = { kind: 'system', name: 'deliveries' }

/** Whether whoever subscribed may have it, as far as client and partner go. */
export interface Access {
  partner_status: string
  partner_scopes: string[]
  client_status: string
  client_scopes: string[]
}

/**
 * Leases subscriptions that no other worker has, and renews this one's. Returns which. Waits for nobody: while one is
 * deleted, with all its deliveries, the others go on.
 */
export async function takeLeases(
  sql: Queries,
  communityId: number,
  worker: string,
  subscriptionIds: number[],
  { now, until, endMax }: { now: Date; until: Date; endMax: Date },
): Promise<number[]> {
  const rows = await sql<{ subscription_id: number }[]>`
    with free as materialized (
      select subscription_id from delivery_leases
      where community_id = ${communityId} and subscription_id = any (${subscriptionIds}::int8[])
        and (worker = ${worker} or until <= ${now} or until > ${endMax})
      order by subscription_id for no key update skip locked
    ), renewed as (
      update delivery_leases l set worker = ${worker}, until = ${until} from free f
      where l.community_id = ${communityId} and l.subscription_id = f.subscription_id
      returning l.subscription_id
    ), made as (
      insert into delivery_leases (community_id, subscription_id, worker, until)
      select ${communityId}, s.id, ${worker}, ${until} from subscriptions s
      where s.community_id = ${communityId} and s.id = any (${subscriptionIds}::int8[])
        and not exists (
          select from delivery_leases l where l.community_id = ${communityId} and l.subscription_id = s.id)
      order by s.id
      on conflict (community_id, subscription_id) do nothing
      returning subscription_id
    )
    select subscription_id from renewed union all select subscription_id from made`
  return rows.map((row) => row.subscription_id)
}

export async function giveUpLeases(sql: Queries, communityId: number, worker: string): Promise<void> {
  await sql`delete from delivery_leases where community_id = ${communityId} and worker = ${worker}`
}

/**
 * Since when nothing but failures came back. Apart from the completions, so that neither waits for the other's locks
 * while somebody deletes the subscription with all its deliveries.
 */
export async function noteHealth(
  sql: Queries,
  communityId: number,
  health: { subscriptionId: number; ok: boolean }[],
  now: Date,
): Promise<void> {
  await sql`
    with input as materialized (
      select * from unnest(${health.map((one) => one.subscriptionId)}::int8[], ${health.map((one) => `${one.ok}`)}::text[])
        as i(id, ok)
    ), locked as materialized (
      select id from subscriptions
      where community_id = ${communityId} and id = any (${health.map((one) => one.subscriptionId)}::int8[])
      order by id for no key update
    )
    update subscriptions s set
      last_success_at = case when i.ok = 'true' then ${now}::timestamptz else s.last_success_at end,
      failing_since = case when i.ok = 'true' then null else coalesce(s.failing_since, ${now}::timestamptz) end
    from input i join locked l using (id)
    where s.community_id = ${communityId} and s.id = i.id
      and case when i.ok = 'true'
        then s.failing_since is not null or s.last_success_at is null
          or s.last_success_at < ${now}::timestamptz - interval '1 minute'
        else s.failing_since is null end`
}

/**
 * Holds a delivery back for lack of access, judged once more under a lock that whoever changes the access waits for:
 * else it could be given back, and what is held released, just before this one is held for good.
 */
export async function holdDelivery(
  sql: Sql,
  communityId: number,
  { id, claims, partnerId, clientId }: { id: number; claims: number; partnerId: number; clientId: number },
  judge: (access: Access) => string | undefined,
  now: Date,
): Promise<void> {
  await transaction(sql, async (tx) => {
    const [access] = await tx<[Access]>`
      select p.status as partner_status, p.scopes as partner_scopes, c.status as client_status, c.scopes as client_scopes
      from partners p join clients c on c.community_id = ${communityId} and c.id = ${clientId}
      where p.community_id = ${communityId} and p.id = ${partnerId} for share of p, c`
    const reason = judge(access)
    await tx`
      update deliveries set status = ${reason === undefined ? 'pending' : 'held'}, held_reason = ${reason ?? null},
        next_attempt_at = ${now}
      where community_id = ${communityId} and id = ${id} and claims = ${claims} and status = 'pending'`
  })
}

/** Nothing but failures for too long. Returns those that were disabled. */
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

export async function disableSubscription(
  sql: Queries,
  communityId: number,
  id: number,
  reason: string,
  now: Date,
): Promise<void> {
  await disable(sql, communityId, reason, now, (tx) => tx`id = ${id} and status <> 'disabled'`)
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
