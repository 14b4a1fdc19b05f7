import { toHours } from '../../core/hours.ts'
import { versionOf } from '../../http/console/versions.ts'
import type { PartnerOverviewRow } from './admin-queries.ts'
import type { NewCredentials } from './create-client.ts'
import type { ClientRow, PartnerRow } from './queries.ts'

/** Administrators are warned from this share of the limit on. */
const WARNING_SHARE = 0.8

export function presentPartner(row: PartnerOverviewRow) {
  const { daily_limit_centihours: limit, used_centihours: used, allowed_networks, ...rest } = row
  return {
    ...rest,
    hours_per_day: toHours(limit),
    hours_used_today: toHours(used),
    hours_nearly_used: used > 0 && used >= limit * WARNING_SHARE,
    allowed_addresses: allowed_networks,
    version: partnerVersion(row),
  }
}

export function partnerVersion(row: PartnerRow): string {
  const { name, contact, status, scopes, rate_limit_per_minute, daily_limit_centihours, allowed_networks } = row
  return versionOf([name, contact, status, scopes, rate_limit_per_minute, daily_limit_centihours, allowed_networks])
}

export function presentClient(row: ClientRow, callsPerDay: number) {
  const { community_id: _community, id: _id, partner_id: _partner, public_id, ...client } = row
  return { client_id: public_id, ...client, calls_per_day: callsPerDay }
}

/** The only response that contains the secret, if there is one. */
export function presentCredentials({ clientId, clientSecret }: NewCredentials<string | undefined>, apiUrl: string) {
  return {
    client_id: clientId,
    ...(clientSecret && { client_secret: clientSecret }),
    token_url: `${apiUrl}/oauth/token`,
  }
}
