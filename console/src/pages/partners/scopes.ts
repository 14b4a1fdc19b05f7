export interface Scope {
  name: string
  /** What it lets a partner do, for people. */
  label: string
  explanation: string
  /** Lets the partner see who somebody is. */
  personal?: true
}

/** In the order of the specification. */
export const SCOPES: readonly Scope[] = [
  {
    name: 'users.read',
    label: 'See members',
    explanation: 'Names, payment references and when somebody joined. Not those who are hidden from partners.',
    personal: true,
  },
  {
    name: 'users.pii',
    label: 'See email addresses',
    explanation: 'Adds the email address to each member. Works only together with “See members”.',
    personal: true,
  },
  { name: 'listings.read', label: 'See listings', explanation: 'The services and requests that members have posted.' },
  { name: 'wallet.read', label: 'Read balances', explanation: 'How many hours a member has.' },
  {
    name: 'wallet.write',
    label: 'Credit hours',
    explanation: 'Adds hours to a member’s wallet after a bank transfer, up to the hours per day below.',
  },
  {
    name: 'aggregates.read',
    label: 'See community totals',
    explanation: 'Rounded figures of the whole community, from which nobody can be recognised.',
  },
  {
    name: 'webhooks.manage',
    label: 'Be told of changes',
    explanation: 'The partner’s own system is notified, only about what it may read anyway.',
  },
]

export function scopeLabel(name: string): string {
  return SCOPES.find((scope) => scope.name === name)?.label ?? name
}
