export interface CallRow {
  request_id: string
  at: string
  partner_id: number | null
  partner_name: string | null
  method: string
  path: string
  status: number
  error: string | null
  duration_ms: number
}

export interface CallDetail extends CallRow {
  client_id: string | null
  client_name: string | null
  route: string | null
  error_description: string | null
  address: string | null
  user_agent: string | null
}

export interface ErrorGroup {
  status: number
  error: string | null
  method: string
  route: string | null
  partner_id: number | null
  partner_name: string | null
  count: number
  last_at: string
}

/** What the address of the page carries. */
export interface CallFilters {
  view?: string
  partner?: string
  status?: string
  method?: string
  path?: string
  error?: string
  request?: string
  period?: string
  /** Days of the community's calendar. */
  since?: string
  until?: string
  call?: string
}
