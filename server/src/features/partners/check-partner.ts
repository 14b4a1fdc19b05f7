import { parseNetwork } from '../../core/networks.ts'
import { commonScopes, isScope, SCOPE_NAMES, type Scope } from '../../core/scopes.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { PartnerProperties } from './queries.ts'

const NAME_LENGTH_MAX = 200
const CONTACT_LENGTH_MAX = 500
const RATE_LIMIT_PER_MINUTE_MAX = 1_000_000
const NETWORKS_MAX = 100

/** Validates the given fields. */
export function checkPartner<Input extends Partial<Omit<PartnerProperties, 'scopes'> & { scopes: string[] }>>(
  input: Input,
): Input & { scopes: Scope[] } {
  const {
    name,
    contact,
    scopes,
    rate_limit_per_minute: rate,
    daily_limit_centihours: daily,
    allowed_networks: networks,
  } = input
  if (name !== undefined && (!name.trim() || name.length > NAME_LENGTH_MAX)) {
    throw new Refusal(because('name_length', { max: NAME_LENGTH_MAX }), { field: 'name' })
  }
  if (contact !== undefined && contact.length > CONTACT_LENGTH_MAX) {
    throw new Refusal(because('contact_too_long', { max: CONTACT_LENGTH_MAX }), { field: 'contact' })
  }
  if (rate !== undefined && !(Number.isInteger(rate) && rate >= 1 && rate <= RATE_LIMIT_PER_MINUTE_MAX)) {
    throw new Refusal(because('rate_limit_range', { max: RATE_LIMIT_PER_MINUTE_MAX }), {
      field: 'rate_limit_per_minute',
    })
  }
  if (daily !== undefined && !(Number.isSafeInteger(daily) && daily >= 0)) {
    throw new Refusal(because('hours_per_day_negative'), { field: 'hours_per_day' })
  }
  if (networks !== undefined) checkNetworks(networks)
  return {
    ...input,
    ...(name !== undefined && { name: name.trim() }),
    ...(contact !== undefined && { contact: contact.trim() }),
    ...(scopes && { scopes: checkScopes(scopes) }),
  } as Input & { scopes: Scope[] }
}

export function checkClientName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length <= NAME_LENGTH_MAX) return trimmed
  throw new Refusal(because('name_too_long', { max: NAME_LENGTH_MAX }), { field: 'name' })
}

export function checkScopes(names: readonly string[]): Scope[] {
  const about = { field: 'scopes' }
  const known = SCOPE_NAMES.join(' ')
  const unknown = names.filter((name) => !isScope(name))
  if (unknown.length > 0) {
    throw new Refusal(because('scopes_unknown', { unknown: unknown.join(', '), known }), about)
  }
  if (names.length === 0) throw new Refusal(because('scopes_missing', { known }), about)
  return commonScopes(names)
}

function checkNetworks(networks: readonly string[]): void {
  const about = { field: 'allowed_addresses' }
  if (networks.length > NETWORKS_MAX) throw new Refusal(because('networks_max', { max: NETWORKS_MAX }), about)
  for (const network of networks) parseNetwork(network, about)
}
