import { insertEmailReads } from '../members/queries.ts'
import type { Sql } from '../db/connect.ts'
import { isConcealed, renderEvent } from '../events/render.ts'
import { commonScopes } from '../http/scopes.ts'
import type { SecretBox } from '../http/secret-box.ts'
import {
  disableSubscription,
  holdDelivery,
  type Access,
  type ClaimedDelivery,
  type Completion,
  type LostDelivery,
} from './delivery-queries.ts'
import { scopesFor } from './event-types.ts'
import { nextAttempt, readRetryAfter } from './schedule.ts'
import { SenderClosed, type Outcome, type Sender } from './send.ts'
import { signedHeaders } from './sign.ts'

const GONE = 410
const CONCEALED = 'The member can no longer be seen by partners'

export interface DeliverDeps {
  sql: Sql
  box: SecretBox
  sender: Sender
  clock: () => Date
  random: () => number
}

/** Judges, renders, signs and sends one claimed delivery; says what became of it. Undefined: it is held back. */
export async function deliver(
  deps: DeliverDeps,
  communityId: number,
  claimed: ClaimedDelivery | LostDelivery,
): Promise<Completion | undefined> {
  const claim = { id: claimed.id, subscriptionId: claimed.subscription_id, claims: claimed.claims }
  if (claimed.event_uuid === null) return { ...claim, status: 'failed' }
  if (isConcealed(claimed, claimed.partner_of_subscription)) {
    return { ...claim, status: 'held', heldReason: CONCEALED }
  }
  // By the state of client and partner when it was leased; a change gives back what has not been sent.
  const judge = (access: Access) => lackOfAccess(access, claimed)
  if (judge(claimed) !== undefined) {
    await holdDelivery(deps.sql, communityId, claimed, judge, deps.clock())
    return undefined
  }
  const at = deps.clock()
  try {
    const outcome = await send(deps, communityId, claimed, at)
    if (outcome.status === GONE) {
      const reason = 'The receiver answered 410 Gone'
      await disableSubscription(deps.sql, communityId, claimed.subscription_id, reason, deps.clock())
    }
    return { ...claim, attempt: { ...outcome, at }, ...fate(deps, claimed, outcome) }
  } catch (error) {
    if (!(error instanceof SenderClosed)) throw error
    // For another node, at once.
    return { ...claim, status: 'pending', nextAttemptAt: at }
  }
}

function lackOfAccess(access: Access, { type }: ClaimedDelivery): string | undefined {
  if (access.partner_status !== 'active') return 'The partner is suspended'
  if (access.client_status !== 'active') return 'The client that made the subscription is revoked'
  const scopes = commonScopes(access.client_scopes, access.partner_scopes)
  const missing = scopesFor(type).filter((scope) => !scopes.includes(scope))
  return missing.length > 0 ? `The client lacks the scope ${missing.join(', ')}` : undefined
}

async function send(
  { sql, box, sender }: DeliverDeps,
  communityId: number,
  claimed: ClaimedDelivery,
  at: Date,
): Promise<Outcome> {
  const webhookId = `evt_${claimed.event_uuid}`
  const scopes = commonScopes(claimed.client_scopes, claimed.partner_scopes)
  const data = renderEvent(claimed, { partnerId: claimed.partner_of_subscription, scopes })
  if (data.email) {
    const { client_id: clientId, client_public_id: clientName, member_id: memberId } = claimed
    await insertEmailReads(sql, communityId, [{ clientId, clientName, requestId: webhookId, memberIds: [memberId!] }])
  }
  const body = JSON.stringify({ type: claimed.type, timestamp: claimed.event_created_at, data })
  const secrets = [claimed.secret, claimed.previous_secret].flatMap((sealed) => (sealed ? [box.open(sealed)] : []))
  return sender.send(claimed.target_url, signedHeaders(webhookId, at, body, secrets), body)
}

function fate(
  { clock, random }: DeliverDeps,
  claimed: ClaimedDelivery,
  outcome: Outcome,
): Pick<Completion, 'status' | 'nextAttemptAt'> {
  if (outcome.ok) return { status: 'delivered' }
  const now = clock()
  const retryAfterMs = readRetryAfter(outcome.retryAfter, now)
  const nextAttemptAt = nextAttempt(claimed.attempts + 1, now, retryAfterMs, random())
  return nextAttemptAt ? { status: 'pending', nextAttemptAt } : { status: 'failed' }
}
