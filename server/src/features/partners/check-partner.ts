import { parseNetwork } from '../../core/networks.ts'
import { commonScopes, isScope, SCOPE_NAMES, type Scope } from '../../core/scopes.ts'
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
    throw new Refusal(`The name must have 1 to ${NAME_LENGTH_MAX} characters.`, { field: 'name' })
  }
  if (contact !== undefined && contact.length > CONTACT_LENGTH_MAX) {
    throw new Refusal(`The contact must have at most ${CONTACT_LENGTH_MAX} characters.`, { field: 'contact' })
  }
  if (rate !== undefined && !(Number.isInteger(rate) && rate >= 1 && rate <= RATE_LIMIT_PER_MINUTE_MAX)) {
    throw new Refusal(`The rate limit must be a whole number from 1 to ${RATE_LIMIT_PER_MINUTE_MAX}.`, {
      field: 'rate_limit_per_minute',
    })
  }
  if (daily !== undefined && !(Number.isSafeInteger(daily) && daily >= 0)) {
    throw new Refusal('The hours per day must not be negative.', { field: 'hours_per_day' })
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
  throw new Refusal(`The name must have at most ${NAME_LENGTH_MAX} characters.`, { field: 'name' })
}

export function checkScopes(names: readonly string[]): Scope[] {
  const about = { field: 'scopes' }
  const unknown = names.filter((name) => !isScope(name))
  if (unknown.length > 0) {
    throw new Refusal(`There is no scope ${unknown.join(', ')}. The scopes are: ${SCOPE_NAMES.join(' ')}.`, about)
  }
  if (names.length === 0) {
    throw new Refusal(`At least one scope is needed. The scopes are: ${SCOPE_NAMES.join(' ')}.`, about)
  }
  return commonScopes(names)
}

function checkNetworks(networks: readonly string[]): void {
  const about = { field: 'allowed_addresses' }
  if (networks.length > NETWORKS_MAX) throw new Refusal(`At most ${NETWORKS_MAX} address ranges can be allowed.`, about)
  for (const network of networks) {
    try {
      parseNetwork(network)
    } catch (error) {
      throw new Refusal((error as Error).message, about)
    }
  }
}
