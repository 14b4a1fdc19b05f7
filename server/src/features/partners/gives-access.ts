import type { PartnerProperties } from './queries.ts'

type Change = Partial<Omit<PartnerProperties, 'scopes'> & { scopes: string[] }>

/** Whether a partner may do more after a change than before: that needs a fresh proof. Withdrawing must not wait. */
export function givesAccess(before: PartnerProperties, change: Change): boolean {
  const { scopes = [], status, rate_limit_per_minute: rate = 0, daily_limit_centihours: hours = 0 } = change
  return (
    status === 'active' ||
    scopes.some((scope) => !before.scopes.some((held) => held === scope)) ||
    rate > before.rate_limit_per_minute ||
    hours > before.daily_limit_centihours ||
    (change.allowed_networks !== undefined && admitsMore(before.allowed_networks, change.allowed_networks))
  )
}

/** An empty list admits every address. */
function admitsMore(before: readonly string[], after: readonly string[]): boolean {
  if (before.length === 0) return false
  return after.length === 0 || after.some((network) => !before.includes(network))
}
