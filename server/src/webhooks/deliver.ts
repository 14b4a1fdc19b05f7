import { insertEmailReads } from '../members/queries.ts'
import type { Sql } from '../db/connect.ts'
import { renderEvent } from '../events/render.ts'
import { commonScopes, type Scope } from '../http/scopes.ts'
import { disableSubscription, type ClaimedDelivery, type Completion } from './delivery-queries.ts'
import { scopesFor } from './event-types.ts'
import { nextAttempt, readRetryAfter } from './schedule.ts'
import type { SecretBox } from '../http/secret-box.ts'
import type { Outcome, Sender } from './send.ts'
import { signedHeaders } from './sign.ts'

const GONE = 410

export interface DeliverDeps {
  sql: Sql
  box: SecretBox
  sender: Sender
  clock: () => Date
  random: () => number
}

export interface Delivered {
  completion: Completion
  /** Undefined when nothing was sent. */
  ok: boolean | undefined
}

/** Judges, renders, signs and sends one claimed delivery; says what became of it. */
export async function deliver(deps: DeliverDeps, communityId: number, claimed: ClaimedDelivery): Promise<Delivered> {
  const { id, claims } = claimed
  const scopes = commonScopes(claimed.client_scopes, claimed.partner_scopes)
  const heldReason = reasonToHold(claimed, scopes)
  if (heldReason !== undefined) return { completion: { id, claims, status: 'held', heldReason }, ok: undefined }

  const webhookId = `evt_${claimed.event_uuid}`
  const data = renderEvent(claimed, { partnerId: claimed.partner_of_subscription, scopes })
  if (data.email) await recordEmailSent(deps.sql, communityId, claimed, webhookId)
  const body = JSON.stringify({ type: claimed.type, timestamp: claimed.event_created_at, data })
  const secrets = [claimed.secret, claimed.previous_secret].flatMap((sealed) => (sealed ? [deps.box.open(sealed)] : []))
  const headers = signedHeaders(webhookId, deps.clock(), body, secrets)
  const outcome = await deps.sender.send(claimed.target_url, headers, body)
  if (outcome.status === GONE) {
    const reason = 'The receiver answered 410 Gone'
    await disableSubscription(deps.sql, communityId, claimed.subscription_id, reason, deps.clock())
  }
  return { completion: { id, claims, attempt: outcome, ...fate(deps, claimed, outcome) }, ok: outcome.ok }
}

/** Judged by the current state of client and partner, the moment it is sent. */
function reasonToHold(claimed: ClaimedDelivery, scopes: readonly Scope[]): string | undefined {
  if (claimed.partner_status !== 'active') return 'The partner is suspended'
  if (claimed.client_status !== 'active') return 'The client that made the subscription is revoked'
  const missing = scopesFor(claimed.type).filter((scope) => !scopes.includes(scope))
  return missing.length > 0 ? `The client lacks the scope ${missing.join(', ')}` : undefined
}

function fate(
  deps: DeliverDeps,
  claimed: ClaimedDelivery,
  outcome: Outcome,
): Pick<Completion, 'status' | 'nextAttemptAt'> {
  if (outcome.ok) return { status: 'delivered' }
  const now = deps.clock()
  const retryAfterMs = readRetryAfter(outcome.retryAfter, now)
  const nextAttemptAt = nextAttempt(claimed.attempts + 1, now, retryAfterMs, deps.random())
  return nextAttemptAt ? { status: 'pending', nextAttemptAt } : { status: 'failed' }
}

async function recordEmailSent(
  sql: Sql,
  communityId: number,
  claimed: ClaimedDelivery,
  webhookId: string,
): Promise<void> {
  await insertEmailReads(sql, communityId, [
    {
      clientId: claimed.client_id,
      clientName: claimed.client_public_id,
      requestId: webhookId,
      memberIds: [claimed.member_id!],
    },
  ])
}
