import type { KeyObject } from 'node:crypto'
import type { EmailReadRecorder } from '../features/members/record-email-reads.ts'
import type { Sql } from '../postgres/connect.ts'
import { isConcealed, renderEvent } from '../features/events/render.ts'
import { commonScopes, type Scope } from '../core/scopes.ts'
import type { SecretBox } from '../crypto/secret-box.ts'
import { traceDelivery } from './trace-delivery.ts'
import { tracing } from '../core/tracing.ts'
import { disableSubscription, type Access, type Hold } from './delivery-queries.ts'
import { scopesFor } from '../features/subscriptions/event-patterns.ts'
import { deliveryFaultOf, lateUntil, pretendStatus } from './faults-on-demand.ts'
import type { DueDelivery, DueEvent, Recipient } from './read-due.ts'
import type { Completion } from './record-completions.ts'
import { nextAttempt, readRetryAfter } from './schedule.ts'
import type { Outcome, Sender } from './send.ts'
import { signedHeaders, signingKey } from '../crypto/sign.ts'

const GONE = 410
const MEMBER_CONCEALED = 'Partners could not see the member when this event was due'
const LISTING_CONCEALED = 'Partners could not see the listing when this event was due'

export interface DeliverDeps {
  sql: Sql
  recordEmailRead: EmailReadRecorder
  box: SecretBox
  sender: Sender
  clock: () => Date
  random: () => number
}

/**
 * Checks access, renders, signs and sends one delivery. Returns what is to be recorded, or that it has to be held;
 * undefined if access changed before it was sent: `isOutdated` says so, and the delivery has to be read again.
 * @throws SenderClosed if the worker is closing and another one has to send it.
 */
export async function deliver(
  deps: DeliverDeps,
  communityId: number,
  due: DueDelivery,
  isOutdated: () => boolean,
): Promise<Completion | Hold | undefined> {
  const { event, recipient } = due
  if (!event) return completion(due, { status: 'failed' })
  if (isConcealed(event, recipient.partner_id)) {
    const heldReason = event.type.startsWith('listing.') ? LISTING_CONCEALED : MEMBER_CONCEALED
    return completion(due, { status: 'held', heldReason })
  }
  // As of the moment when it was read; after an access change, deliveries that were not sent are read again.
  const reasonToHold = (access: Access) => lackOfAccess(access, event)
  if (reasonToHold(recipient) !== undefined) {
    return { id: due.id, claims: due.claims, subscriptionId: due.subscription_id, reasonToHold }
  }
  const at = deps.clock()
  const fault = deliveryFaultOf(due)
  if (fault?.kind === 'late' && at < lateUntil(event.created_at)) {
    return completion(due, { status: 'pending', nextAttemptAt: lateUntil(event.created_at) })
  }
  const isPretended = fault?.kind === 'status' && (!fault.once || due.attempts === 0)
  const data = renderEvent(event, { partnerId: recipient.partner_id, scopes: scopesOf(recipient) })
  if (data.email && !isPretended) {
    const { client_id: clientId, client_public_id: clientPublicId } = recipient
    const reader = { communityId, clientId, clientPublicId }
    await deps.recordEmailRead(reader, webhookIdOf(event), [event.member_id!])
    if (isOutdated()) return undefined
  }
  const attempt = () => send(deps, recipient, event, data, at)
  const outcome = isPretended
    ? pretendStatus(fault.status)
    : await (tracing ? traceDelivery(communityId, due, event, attempt) : attempt())
  // The first result counts: the receiver sees a second delivery of something that it has accepted.
  if (fault?.kind === 'twice' && outcome.ok) await attempt()
  if (outcome.status === GONE) {
    const reason = 'The receiver answered 410 Gone'
    const { subscription_id: id } = due
    await disableSubscription(deps.sql, communityId, { id, targetUrl: recipient.target_url }, reason, deps.clock())
  }
  return completion(due, { ...resultOf(deps, due, outcome), attempt: { at, outcome } })
}

type Result = Pick<Completion, 'status' | 'heldReason' | 'nextAttemptAt' | 'attempt'>

function completion(
  { id, subscription_id: subscriptionId, claims, attempts }: DueDelivery,
  result: Result,
): Completion {
  return { id, subscriptionId, claims, attempts, ...result }
}

const scopesByAccess = new WeakMap<Access, Scope[]>()

/** The scopes that all three have. Cached, because many deliveries in a row share one recipient. */
function scopesOf(access: Access): Scope[] {
  let scopes = scopesByAccess.get(access)
  if (!scopes)
    scopesByAccess.set(
      access,
      (scopes = commonScopes(access.subscription_scopes, access.client_scopes, access.partner_scopes)),
    )
  return scopes
}

function lackOfAccess(access: Access, { type }: DueEvent): string | undefined {
  if (access.partner_status !== 'active') return 'The partner is suspended'
  if (access.client_status === 'expired') return 'The client that made the subscription has expired'
  if (access.client_status !== 'active') return 'The client that made the subscription is revoked'
  const scopes = scopesOf(access)
  const missing = scopesFor(type).filter((scope) => !scopes.includes(scope))
  return missing.length > 0 ? `The client lacks the scope ${missing.join(', ')}` : undefined
}

const keysByRecipient = new WeakMap<Recipient, KeyObject[]>()

/** The current key and, during a rotation, the previous one. */
function keysOf(box: SecretBox, recipient: Recipient): KeyObject[] {
  let keys = keysByRecipient.get(recipient)
  if (!keys) {
    keys = recipient.secrets.map((sealed) => signingKey(box.open(Buffer.from(sealed, 'base64'))))
    keysByRecipient.set(recipient, keys)
  }
  return keys
}

const webhookIdOf = ({ uuid }: DueEvent) => `evt_${uuid}`

async function send(
  { box, sender }: DeliverDeps,
  recipient: Recipient,
  event: DueEvent,
  data: object,
  at: Date,
): Promise<Outcome> {
  const body = JSON.stringify({ type: event.type, timestamp: event.created_at, data })
  return sender.send(recipient.target_url, signedHeaders(webhookIdOf(event), at, body, keysOf(box, recipient)), body)
}

function resultOf({ clock, random }: DeliverDeps, { attempts }: DueDelivery, outcome: Outcome): Result {
  if (outcome.ok) return { status: 'delivered' }
  const now = clock()
  const retryAfterMs = readRetryAfter(outcome.retryAfter, now)
  const nextAttemptAt = nextAttempt(attempts + 1, now, retryAfterMs, random())
  return nextAttemptAt ? { status: 'pending', nextAttemptAt } : { status: 'failed' }
}
