import { transaction, type Queries, type Sql } from '../postgres/connect.ts'

/** A lease's holder, and its times by the database's clock. */
export interface Lease {
  worker: string
  now: Date
  until: Date
  /** A lease that ends later than this was taken before the clock was set back, and is not valid. */
  untilMax: Date
}

export interface ClaimedQueue {
  subscription_id: number
  failures: number
  paused_until: string | null
  resets: number
}

/** Leases queues that are due and free. Skips locked rows: while a subscription is deleted, the others go on. */
export async function claimQueues(
  sql: Queries,
  communityId: number,
  subscriptionIds: number[],
  { worker, now, until, untilMax }: Lease,
): Promise<ClaimedQueue[]> {
  return sql<ClaimedQueue[]>`
    with free as materialized (
      select subscription_id from delivery_queues
      where community_id = ${communityId} and subscription_id = any (${subscriptionIds}::int8[]) and due_at <= ${now}
        and (leased_until is null or leased_until <= ${now} or leased_until > ${untilMax})
      order by subscription_id for no key update skip locked
    )
    update delivery_queues q set worker = ${worker}, leased_until = ${until} from free f
    where q.community_id = ${communityId} and q.subscription_id = f.subscription_id
    returning q.subscription_id, q.failures, q.paused_until, q.resets`
}

/** Extends the worker's own leases. Returns those that it still holds and that were not locked. */
export async function renewLeases(
  sql: Queries,
  communityId: number,
  subscriptionIds: number[],
  { worker, until }: Lease,
): Promise<number[]> {
  const rows = await sql<{ subscription_id: number }[]>`
    with held as materialized (
      select subscription_id from delivery_queues
      where community_id = ${communityId} and subscription_id = any (${subscriptionIds}::int8[]) and worker = ${worker}
      order by subscription_id for no key update skip locked
    )
    update delivery_queues q set leased_until = ${until} from held h
    where q.community_id = ${communityId} and q.subscription_id = h.subscription_id
    returning q.subscription_id`
  return rows.map((row) => row.subscription_id)
}

export interface Release {
  subscriptionId: number
  failures: number
  pausedUntil: Date | undefined
  resets: number
}

/**
 * Gives leases up and sets when the queues are due next. Two statements: the second begins after the rows are locked, so
 * it sees every delivery whose fan-out marked the queue before. A fan-out that comes later waits for the lock and marks
 * the queue again. Returns the times; undefined where the lease was lost.
 */
export async function releaseQueues(
  sql: Sql,
  communityId: number,
  worker: string,
  releases: Release[],
): Promise<({ dueAt: Date | undefined } | undefined)[]> {
  const ids = releases.map(({ subscriptionId }) => subscriptionId)
  return transaction(sql, async (tx) => {
    await tx`
      select 1 from delivery_queues
      where community_id = ${communityId} and subscription_id = any (${ids}::int8[]) and worker = ${worker}
      order by subscription_id for no key update`
    const rows = await tx<{ subscription_id: number; due_at: string | null }[]>`
      update delivery_queues q set worker = null, leased_until = null,
        due_at = case when n.next_attempt_at is null then null when q.resets = n.resets
          then greatest(n.next_attempt_at, n.paused_until) else n.next_attempt_at end,
        failures = case when q.resets = n.resets then n.failures else q.failures end,
        paused_until = case when q.resets = n.resets then n.paused_until else q.paused_until end
      from (
        select r.*, (
          select next_attempt_at from deliveries
          where community_id = ${communityId} and subscription_id + 0 = r.id and status = 'pending'
          order by next_attempt_at limit 1) as next_attempt_at
        from unnest(${ids}::int8[], ${releases.map(({ failures }) => failures)}::int4[],
          ${releases.map(({ pausedUntil }) => pausedUntil?.toISOString() ?? null)}::timestamptz[],
          ${releases.map(({ resets }) => resets)}::int4[]) as r(id, failures, paused_until, resets)
      ) n
      where q.community_id = ${communityId} and q.subscription_id = n.id and q.worker = ${worker}
      returning q.subscription_id, q.due_at`
    const byId = new Map(rows.map((row) => [row.subscription_id, row.due_at]))
    return ids.map((id) => {
      const dueAt = byId.get(id)
      return dueAt === undefined ? undefined : { dueAt: dueAt === null ? undefined : new Date(dueAt) }
    })
  })
}

/**
 * Reschedules retries and pauses that are further in the future than the schedule allows, because the database's clock
 * was set back. Safe to run on any number of nodes. Locked rows are skipped: they are being rescheduled anyway. Returns
 * the number of retries.
 */
export async function limitDelays(
  sql: Sql,
  communityId: number,
  longestDelaysMs: number[],
  now: Date,
): Promise<number> {
  const latest = sql`${now}::timestamptz + (${longestDelaysMs}::float8[])[attempts + 1] * interval '1 millisecond'`
  return transaction(sql, async (tx) => {
    const { count } = await tx`
      with late as materialized (
        select id, ${latest} as latest from deliveries
        where community_id = ${communityId} and status = 'pending' and next_attempt_at > ${latest}
        order by subscription_id, event_id for no key update skip locked
      )
      update deliveries d set next_attempt_at = l.latest from late l
      where d.community_id = ${communityId} and d.id = l.id`
    // A worker looks at them and finds out when they are due.
    await tx`
      with late as materialized (
        select subscription_id from delivery_queues
        where community_id = ${communityId} and due_at > ${now}
        order by subscription_id for no key update skip locked
      )
      update delivery_queues q set due_at = ${now}, paused_until = null from late l
      where q.community_id = ${communityId} and q.subscription_id = l.subscription_id`
    return count
  })
}
