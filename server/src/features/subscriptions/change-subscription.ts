import { isDeepStrictEqual } from 'node:util'
import { recordAudit, type Actor, type AuditEntry } from '../audit/record.ts'
import { transaction, type Queries, type Sql } from '../../postgres/connect.ts'
import type { Caller } from '../../http/partner/access.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { because } from '../../core/reasons.ts'
import type { SecretBox } from '../../crypto/secret-box.ts'
import {
  countSubscriptions,
  deleteDeliveries,
  deleteSubscription,
  findSubscription,
  findSubscriptionForChange,
  insertSubscription,
  redeliver,
  rotateSubscriptionSecret,
  updateSubscription,
} from './queries.ts'
import { replaySince, tryLockReplays } from './replay-queries.ts'
import type { Subscription, SubscriptionChange, SubscriptionRequest } from './schema.ts'
import { newWebhookSecret } from '../../crypto/sign.ts'

export const SUBSCRIPTIONS_MAX = 20
/** Beyond these, deliveries are deleted together with the subscription. */
const DELETE_BATCH_MAX = 1000
const DELETE_BATCHES_MAX = 1000
const SECRET_OVERLAP_SECONDS = 24 * 60 * 60
/** For more events, partners read the feed or replay from a later time. */
export const REPLAY_MAX = 100_000
const REPLAY_RETRY_AFTER_SECONDS = 5

/** The secret is returned only here and on rotation. */
export async function subscribe(
  sql: Sql,
  box: SecretBox,
  caller: Caller,
  { event_types, target_url }: SubscriptionRequest,
): Promise<Subscription & { secret: string }> {
  const { communityId, partnerId, clientId, scopes } = caller
  const secret = newWebhookSecret()
  const subscription = await transaction(sql, async (tx) => {
    if ((await countSubscriptions(tx, communityId, partnerId)) >= SUBSCRIPTIONS_MAX) {
      throw new ApiError('subscription_limit_reached')
    }
    const made = await insertSubscription(tx, communityId, {
      partner_id: partnerId,
      client_id: clientId,
      event_types,
      target_url,
      scopes: [...scopes],
      secret: box.seal(secret),
    })
    await auditChange(tx, caller, 'subscription.created', made.id, describeForAudit({ event_types, target_url }))
    return made
  })
  return { ...subscription, secret }
}

/** Without a difference nothing is written: a partner could fill the audit log with calls that change nothing. */
export async function changeSubscription(
  sql: Sql,
  caller: Caller,
  id: number,
  input: SubscriptionChange,
): Promise<Subscription> {
  const { communityId, partnerId } = caller
  return transaction(sql, async (tx) => {
    const stored = requireFound(await findSubscriptionForChange(tx, communityId, partnerId, id))
    const change = differenceOf(stored, input)
    if (Object.keys(change).length === 0) return stored
    const changed = requireFound(await updateSubscription(tx, communityId, partnerId, id, change))
    await auditChange(tx, caller, 'subscription.changed', id, describeForAudit(change))
    return changed
  })
}

/** Setting the same status is a change if it resets a failure record or removes the reason of the status. */
function differenceOf(stored: Subscription, { event_types, target_url, status }: SubscriptionChange) {
  const isReset = stored.failing_since !== null || stored.status_reason !== null
  return {
    ...(event_types && !isDeepStrictEqual(event_types, stored.event_types) && { event_types }),
    ...(target_url && target_url !== stored.target_url && { target_url }),
    ...(status && (status !== stored.status || isReset) && { status }),
  }
}

const BEING_DELETED = 'Its deletion was interrupted: delete it again'
const PAUSED_BY_OFFICE = "Paused by the community's administrators"

/** Lets an administrator pause or resume a partner's subscription. Resuming also enables a disabled one. */
export async function setSubscriptionStatus(
  sql: Queries,
  actor: Actor,
  { communityId, partnerId }: Pick<Caller, 'communityId' | 'partnerId'>,
  id: number,
  status: 'active' | 'paused',
): Promise<void> {
  await transaction(sql, async (tx) => {
    const reason = status === 'paused' ? PAUSED_BY_OFFICE : null
    requireFound(await updateSubscription(tx, communityId, partnerId, id, { status, reason }))
    const action = status === 'paused' ? 'subscription.paused' : 'subscription.resumed'
    await recordAudit(tx, communityId, actor, { action, subject: { kind: 'subscription', id } })
  })
}

/** Returns the subscription as it was. */
export async function unsubscribe(sql: Sql, caller: Caller, id: number): Promise<Subscription> {
  const subscription = requireFound(await findSubscription(sql, caller.communityId, caller.partnerId, id))
  await transaction(sql, async (tx) => {
    await requireNoReplay(tx, caller, 'shared')
    // Whatever interrupts the deletion, a subscription that has lost deliveries does not look as if nothing had happened.
    const pause = { status: 'paused', reason: BEING_DELETED } as const
    requireFound(await updateSubscription(tx, caller.communityId, caller.partnerId, id, pause))
  })
  for (let batch = 0; batch < DELETE_BATCHES_MAX; batch++) {
    const count = await transaction(sql, async (tx) => {
      await requireNoReplay(tx, caller, 'shared')
      return deleteDeliveries(tx, caller.communityId, id, DELETE_BATCH_MAX)
    })
    if (count < DELETE_BATCH_MAX) break
  }
  return transaction(sql, async (tx) => {
    await requireNoReplay(tx, caller, 'shared')
    requireFound(await deleteSubscription(tx, caller.communityId, caller.partnerId, id))
    await auditChange(tx, caller, 'subscription.deleted', id, describeForAudit(subscription))
    return subscription
  })
}

/** Deliveries are signed with both secrets for the overlap period. */
export async function rotateWebhookSecret(
  sql: Sql,
  box: SecretBox,
  { communityId, partnerId, ...caller }: Caller,
  id: number,
): Promise<Subscription & { secret: string }> {
  const secret = newWebhookSecret()
  const subscription = await transaction(sql, async (tx) => {
    const sealed = box.seal(secret)
    const rotated = await rotateSubscriptionSecret(tx, communityId, partnerId, id, sealed, SECRET_OVERLAP_SECONDS)
    await auditChange(tx, { communityId, ...caller }, 'subscription.secret_rotated', requireFound(rotated).id, {})
    return requireFound(rotated)
  })
  return { ...subscription, secret }
}

/** Returns undefined if there are too many events. */
export async function replay(sql: Sql, caller: Caller, id: number, since: string): Promise<number | undefined> {
  return transaction(sql, async (tx) => {
    await requireNoReplay(tx, caller, 'exclusive')
    const deliveries = await replaySince(tx, caller.communityId, id, since, REPLAY_MAX)
    if (deliveries !== undefined) await auditChange(tx, caller, 'subscription.replayed', id, { since, deliveries })
    return deliveries
  })
}

export async function resend(
  sql: Sql,
  caller: Caller,
  { id, subscription_id, event_type }: { id: number; subscription_id: number; event_type: string },
): Promise<void> {
  await transaction(sql, async (tx) => {
    await requireNoReplay(tx, caller, 'shared')
    if (!(await redeliver(tx, caller.communityId, caller.partnerId, id))) return
    await auditChange(tx, caller, 'delivery.resent', subscription_id, { delivery_id: id, event_type })
  })
}

/** Exclusive for a replay; shared for what would wait for the deliveries that a replay has locked. */
export async function requireNoReplay(
  tx: Queries,
  { communityId, partnerId }: Pick<Caller, 'communityId' | 'partnerId'>,
  mode: 'exclusive' | 'shared',
): Promise<void> {
  if (await tryLockReplays(tx, communityId, partnerId, mode)) return
  throw new ApiError('rate_limited', {
    reason: because('replay_running'),
    headers: { 'retry-after': `${REPLAY_RETRY_AFTER_SECONDS}` },
  })
}

export function requireFound(subscription: Subscription | undefined): Subscription {
  if (!subscription) throw new ApiError('subscription_not_found')
  return subscription
}

async function auditChange(
  tx: Queries,
  { communityId, clientId, clientPublicId }: Pick<Caller, 'communityId' | 'clientId' | 'clientPublicId'>,
  action: string,
  id: number,
  detail: AuditEntry['detail'],
): Promise<void> {
  const actor: Actor = { kind: 'client', id: clientId, name: clientPublicId }
  await recordAudit(tx, communityId, actor, {
    action,
    subject: { kind: 'subscription', id },
    ...(detail && { detail }),
  })
}

/** Records only the host of the target, because partners put secrets into paths and queries. */
export function describeForAudit({
  event_types,
  target_url,
  status,
}: SubscriptionChange | Subscription): AuditEntry['detail'] {
  return {
    ...(event_types && { event_types }),
    ...(target_url && { target_host: new URL(target_url).host }),
    ...(status && { status }),
  }
}
