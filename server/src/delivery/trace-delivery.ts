import { runIn, tracing } from '../core/tracing.ts'
import { traceKey } from '../features/wallet/credit-member.ts'
import type { DueDelivery, DueEvent } from './read-due.ts'
import type { Outcome } from './send.ts'

/** In the trace of the credit that caused it, if that is known, else in one of its own. The target may hold a secret. */
export function traceDelivery(
  communityId: number,
  { subscription_id, attempts }: DueDelivery,
  event: DueEvent,
  attempt: () => Promise<Outcome>,
): Promise<Outcome> {
  const span = tracing?.start(`deliver ${event.type}`, {
    kind: 'client',
    parent: causeOf(communityId, event),
    attributes: {
      'hourbank.community_id': communityId,
      'hourbank.subscription_id': subscription_id,
      'hourbank.event_id': `evt_${event.uuid}`,
      'hourbank.attempt': attempts + 1,
    },
  })
  if (!span) return attempt()
  return runIn(span, attempt, ({ status, errorKind }) => ({
    'http.response.status_code': status,
    'error.type': errorKind,
  }))
}

function causeOf(communityId: number, { type, partner_id, data }: DueEvent): string | undefined {
  if (type !== 'wallet.credited' || partner_id === null) return undefined
  return tracing?.recall(traceKey(communityId, partner_id, data.transaction_id as number))
}
