/** A number that is counted only so far. */
export interface Count {
  count: number
  more: boolean
}

export interface Subscription {
  id: number
  event_types: string[]
  target_url: string
  status: 'active' | 'paused' | 'disabled'
  status_reason: string | null
  status_changed_at: string
  failing_since: string | null
  last_success_at: string | null
  created_at: string
  partner: { id: number; name: string; status: string }
  client: { client_id: string; status: string }
  waiting: Count
  held: Count
  failures_in_a_row: Count
}

export interface Attempt {
  number: number
  at: string
  duration_ms: number
  status: number | null
  error_kind: 'dns' | 'connect' | 'tls' | 'timeout' | 'status' | 'refused_address' | null
  error: string | null
}

export type DeliveryStatus = 'pending' | 'held' | 'delivered' | 'failed'

interface DeliveryFacts {
  id: number
  subscription_id: number
  event_id: string
  event_type: string
  status: DeliveryStatus
  held_reason: string | null
  next_attempt_at: string | null
  created_at: string
  finished_at: string | null
}

export interface ListedDelivery extends DeliveryFacts {
  attempts_count: number
  last_attempt: Attempt | null
}

export interface Delivery extends DeliveryFacts {
  attempts: (Attempt & { response: string | null })[]
  body: unknown
}
