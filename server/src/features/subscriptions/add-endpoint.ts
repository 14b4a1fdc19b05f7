import { recordAudit, type Actor } from '../audit/record.ts'
import { EVENT_TYPES, type EventType } from '../events/event-types.ts'
import { findClientForChange, findPartnerForChange } from '../partners/queries.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { commonScopes, type Scope } from '../../core/scopes.ts'
import type { SecretBox } from '../../crypto/secret-box.ts'
import { newWebhookSecret } from '../../crypto/sign.ts'
import type { Transaction } from '../../postgres/connect.ts'
import { describeForAudit, SUBSCRIPTIONS_MAX } from './change-subscription.ts'
import { overwriteSubscriptionSecret } from './endpoint-queries.ts'
import { matches, scopesFor } from './event-patterns.ts'
import { countSubscriptions, insertSubscription } from './queries.ts'
import type { SubscriptionRequest } from './schema.ts'

export interface NewEndpoint {
  id: number
  scopes: Scope[]
  secret: string
}

/**
 * Adds a subscription for a partner, on behalf of one of its clients. It stores the scopes that its event types need and
 * that the client holds now: like every other one, it sends only what it stores and what client and partner still hold.
 */
export async function addEndpoint(
  tx: Transaction,
  box: SecretBox,
  actor: Actor,
  communityId: number,
  { partner_id, client_id, event_types, target_url }: SubscriptionRequest & { partner_id: number; client_id: string },
): Promise<NewEndpoint> {
  const partner = await findPartnerForChange(tx, communityId, partner_id)
  if (!partner) throw new NotFound(because('no_such_partner'))
  const client = await findClientForChange(tx, communityId, client_id)
  if (client?.partner_id !== partner.id) throw new NotFound(because('partner_without_client'))
  if (client.status !== 'active') {
    throw new Refusal(because(`credentials_${client.status}`), { field: 'client_id' })
  }
  if ((await countSubscriptions(tx, communityId, partner.id)) >= SUBSCRIPTIONS_MAX) {
    throw new Refusal(because('webhooks_max', { max: SUBSCRIPTIONS_MAX }))
  }
  const scopes = scopesOfEndpoint(event_types, commonScopes(client.scopes, partner.scopes))
  const secret = newWebhookSecret()
  const { id } = await insertSubscription(tx, communityId, {
    partner_id: partner.id,
    client_id: client.id,
    event_types,
    target_url,
    scopes,
    secret: box.seal(secret),
  })
  await recordAudit(tx, communityId, actor, {
    action: 'subscription.added',
    subject: { kind: 'subscription', id },
    detail: { client_id, scopes, ...describeForAudit({ event_types, target_url }) },
  })
  return { id, scopes, secret }
}

/** Answers a repeated request with a new secret. */
export async function reissueEndpoint(
  tx: Transaction,
  box: SecretBox,
  communityId: number,
  id: number,
): Promise<NewEndpoint> {
  const secret = newWebhookSecret()
  const row = await overwriteSubscriptionSecret(tx, communityId, id, box.seal(secret))
  if (!row) throw new NotFound(because('no_such_subscription'))
  return { id, scopes: commonScopes(row.scopes), secret }
}

/** An event type that is named must be readable. Of those that a pattern matches, only the readable ones are sent. */
function scopesOfEndpoint(patterns: readonly string[], held: readonly Scope[]): Scope[] {
  const types = (Object.keys(EVENT_TYPES) as EventType[]).filter((type) =>
    patterns.some((pattern) => matches(pattern, type)),
  )
  const isReadable = (type: EventType) => scopesFor(type).every((scope) => held.includes(scope))
  const hidden = types.find((type) => patterns.includes(type) && !isReadable(type))
  if (hidden) {
    const missing = scopesFor(hidden).filter((scope) => !held.includes(scope))
    const reason = because('credentials_lack_scope', { scopes: missing.join(', '), events: hidden })
    throw new Refusal(reason, { field: 'event_types' })
  }
  // Anybody with webhooks.manage may read a test event, which says nothing.
  if (!types.some((type) => EVENT_TYPES[type].scope && isReadable(type))) {
    throw new Refusal(because('credentials_read_nothing'), { field: 'event_types' })
  }
  return commonScopes(types.filter(isReadable).flatMap(scopesFor))
}
