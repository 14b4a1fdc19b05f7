import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { findAnySubscription, type SubscriptionRow } from './admin-queries.ts'
import { REPLAY_MAX, requireNoReplay } from './change-subscription.ts'
import { insertTestEvent, redeliver } from './queries.ts'
import { replaySince, requeueFailed } from './replay-queries.ts'

/** Sends a test event for an administrator who helps a partner. */
export async function sendTestEvent(
  sql: Queries,
  actor: Actor,
  communityId: number,
  { id, status }: SubscriptionRow,
): Promise<string> {
  if (status !== 'active') throw new Refusal(because(`subscription_${status}`))
  return transaction(sql, async (tx) => {
    const uuid = await insertTestEvent(tx, communityId, id)
    await recordAudit(tx, communityId, actor, { action: 'subscription.tested', subject: { kind: 'subscription', id } })
    return uuid
  })
}

export async function resendDelivery(
  sql: Queries,
  actor: Actor,
  communityId: number,
  delivery: { id: number; subscription_id: number; event_type: string },
): Promise<void> {
  await transaction(sql, async (tx) => {
    const subscription = await findAnySubscription(tx, communityId, delivery.subscription_id)
    if (!subscription) throw new NotFound(because('no_such_delivery'))
    const { partner_id: partnerId } = subscription
    await requireNoReplay(tx, { communityId, partnerId }, 'shared')
    if (!(await redeliver(tx, communityId, partnerId, delivery.id))) throw new NotFound(because('no_such_delivery'))
    await recordAudit(tx, communityId, actor, {
      action: 'delivery.resent',
      subject: { kind: 'subscription', id: delivery.subscription_id },
      detail: { delivery_id: delivery.id, event_type: delivery.event_type },
    })
  })
}

export const replayEvents = sendAgain('subscription.replayed', 'replay_events_max', replaySince)

/** Queues again what failed since then. */
export const resendFailed = sendAgain('subscription.failures_resent', 'replay_failed_max', requeueFailed)

/** Each queues many deliveries at once, and records how many. */
function sendAgain(action: string, tooMany: 'replay_events_max' | 'replay_failed_max', queue: typeof replaySince) {
  return async (
    sql: Queries,
    actor: Actor,
    communityId: number,
    { id, partner_id: partnerId }: SubscriptionRow,
    since: string,
  ): Promise<number> =>
    transaction(sql, async (tx) => {
      await requireNoReplay(tx, { communityId, partnerId }, 'exclusive')
      const deliveries = await queue(tx, communityId, id, since, REPLAY_MAX)
      if (deliveries === undefined) throw new Refusal(because(tooMany, { max: REPLAY_MAX }), { field: 'since' })
      await recordAudit(tx, communityId, actor, {
        action,
        subject: { kind: 'subscription', id },
        detail: { since, deliveries },
      })
      return deliveries
    })
}
