export interface Party {
  kind: 'member' | 'partner' | 'community'
  id: number | null
  name: string
}

export interface Maker {
  kind: 'admin' | 'client' | 'command' | 'system'
  name: string | null
}

/** A transfer, and what took it back, as one record. */
export interface Transfer {
  id: number
  kind: 'credit' | 'exchange' | 'adjustment'
  occurred_on: string
  created_at: string
  hours: number
  from: Party
  to: Party
  note: string | null
  listing: { id: number; title: string } | null
  reference: string | null
  made_by: Maker
  reversal: { id: number; created_at: string; reason: string | null; made_by: Maker } | null
}

export interface Recorded {
  transfer_ids: number[]
  replayed: boolean
}
