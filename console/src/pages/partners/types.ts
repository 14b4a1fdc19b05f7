export interface PartnerRow {
  id: number
  name: string
  contact: string
  status: 'active' | 'suspended'
  scopes: string[]
  rate_limit_per_minute: number
  hours_per_day: number
  hours_used_today: number
  /** Four fifths of the hours of the day are used. */
  hours_nearly_used: boolean
  allowed_addresses: string[]
  active_clients: number
  created_at: string
  last_used_at: string | null
}

export interface Client {
  client_id: string
  name: string
  status: 'active' | 'revoked'
  scopes: string[]
  secret_last_four: string
  secret_created_at: string
  /** The secret before is still valid until then. */
  grace_until: string | null
  created_at: string
  revoked_at: string | null
  last_used_at: string | null
}

export interface PartnerDetail extends PartnerRow {
  clients: Client[]
}

/** The secret is in the answer that makes it, and nowhere else. */
export interface Credentials {
  client_id: string
  client_secret: string
  token_url: string
}

export interface CreatedPartner extends Credentials {
  partner_id: number
}

export interface PartnerApiState {
  enabled: boolean
  reason: string | null
}
