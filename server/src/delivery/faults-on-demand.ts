import { findDeliveryFault, LATE_MS, type DeliveryFault } from '../core/test-triggers.ts'
import type { DueDelivery } from './read-due.ts'
import type { Outcome } from './send.ts'

/** The fault that a test community's subscription or credit asks for. A reference counts only for its own partner. */
export function deliveryFaultOf({ recipient, event }: DueDelivery): DeliveryFault | undefined {
  if (!recipient.is_test || !event) return undefined
  const isOwn = event.partner_id === recipient.partner_id
  return findDeliveryFault(recipient.target_url, isOwn ? event.data.reference : undefined)
}

/** When a late delivery may be sent. By the event's age, so it is late only once, on any node. */
export function lateUntil(eventCreatedAt: string): Date {
  return new Date(Date.parse(eventCreatedAt) + LATE_MS)
}

/** The outcome of an attempt that was not sent. */
export function pretendStatus(status: number): Outcome {
  return {
    ok: false,
    status,
    errorKind: 'status',
    error: `answered ${status}`,
    response: 'Nothing was sent: this failure was asked for, in a test community.',
    retryAfter: undefined,
    durationMs: 0,
  }
}
