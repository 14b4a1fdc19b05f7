export interface Month {
  /** Like 2026-01. */
  month: string
  exchanges: number
  hours_exchanged: number
  hours_credited: number
}

export interface CallsOfPartner {
  partner_id: number
  name: string
  status: 'active' | 'suspended'
  calls: number
  errors: number
  last_call_at: string | null
}

export interface Webhooks {
  active: number
  paused: number
  disabled: number
  failing: number
  waiting: number
}

export interface Steps {
  has_members: boolean
  has_partner: boolean
  has_call: boolean
  has_credit: boolean
}

/** GET /communities/{slug}/overview */
export interface OverviewData {
  months: Month[]
  active_members: number
  call_days: number
  partners: CallsOfPartner[]
  webhooks: Webhooks
  first_steps: Steps
}
