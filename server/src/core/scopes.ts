/** The specification's scopes, in its order. */
export const SCOPES = {
  'users.read': 'List and fetch members',
  'users.pii': 'Adds email to member data (used together with users.read)',
  'listings.read': 'List listings',
  'wallet.read': 'Read balances',
  'wallet.write': 'Credit hours',
  'aggregates.read': 'Read community aggregates',
  'webhooks.manage': 'List and create webhook subscriptions',
} as const

export type Scope = keyof typeof SCOPES
export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[]

export function isScope(name: string): name is Scope {
  return Object.hasOwn(SCOPES, name)
}

/** Returns the scopes that are in every list, in the specification's order. */
export function commonScopes(...lists: readonly (readonly string[])[]): Scope[] {
  return SCOPE_NAMES.filter((scope) => lists.every((list) => list.includes(scope)))
}
