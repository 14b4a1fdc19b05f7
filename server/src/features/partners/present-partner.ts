import { toHours } from '../../core/hours.ts'
import type { PartnerOverviewRow } from './admin-queries.ts'
import type { NewCredentials } from './create-client.ts'
import type { ClientRow } from './queries.ts'

/** Administrators are warned from this share of the limit on. */
const WARNING_SHARE = 0.8

export function presentPartner({
  daily_limit_centihours: limit,
  used_centihours: used,
  allowed_networks,
  ...row
}: PartnerOverviewRow) {
  return {
    ...row,
    hours_per_day: toHours(limit),
    hours_used_today: toHours(used),
    hours_nearly_used: used > 0 && used >= limit * WARNING_SHARE,
    allowed_addresses: allowed_networks,
  }
}

export function presentClient({
  community_id: _community,
  id: _id,
  partner_id: _partner,
  public_id,
  ...client
}: ClientRow) {
  return { client_id: public_id, ...client }
}

/** The only response that contains the secret, if there is one. */
export function presentCredentials({ clientId, clientSecret }: NewCredentials<string | undefined>, apiUrl: string) {
  return {
    client_id: clientId,
    ...(clientSecret && { client_secret: clientSecret }),
    token_url: `${apiUrl}/oauth/token`,
  }
}
