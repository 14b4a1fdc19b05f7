import type { Role } from '../../session.ts'

export interface Settings {
  slug: string
  name: string
  test: boolean
  time_zone: string
  lower_limit_hours: number
  credit_limit_hours: number
  created_at: string
}

export interface Category {
  id: number
  name: string
  retired_at: string | null
  active_listings: number
}

export interface Administrator {
  id: number
  email: string
  name: string
  role: Role
  created_at: string
  last_seen_at: string | null
  invited: boolean
}

export interface OneTimeLink {
  url: string
  expires_at: string
}

export type Figure = { min: number; max: number } | { suppressed: true }

export interface Flow {
  total: Figure
  periods: { from: string; to: string; figure: Figure }[]
}

export type FlowName = 'exchanges' | 'hours_exchanged' | 'hours_credited' | 'trading_members' | 'new_members'

export interface Aggregates {
  closed_through: string | null
  closed_at: string | null
  flows: Record<FlowName, Flow>
  stocks: {
    active_members: Figure
    active_services: Figure
    active_requests: Figure
    listings_by_category: { category: string; figure: Figure }[]
  }
}
