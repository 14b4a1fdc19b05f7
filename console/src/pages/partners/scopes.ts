import type { Scope } from '../../wire.ts'

interface ScopeWords {
  /** What it lets a partner do. */
  label: string
  explanation: string
  /** Lets the partner see who somebody is. */
  personal?: true
}

/** In the order of the specification. */
const WORDS: Record<Scope, ScopeWords> = {
  'users.read': {
    label: 'See members',
    explanation: 'Names, payment references and when somebody joined. Not those who are hidden from partners.',
    personal: true,
  },
  'users.pii': {
    label: 'See email addresses',
    explanation: 'Adds the email address to each member. Works only together with “See members”.',
    personal: true,
  },
  'listings.read': { label: 'See listings', explanation: 'The services and requests that members have posted.' },
  'wallet.read': { label: 'Read balances', explanation: 'How many hours a member has.' },
  'wallet.write': {
    label: 'Credit hours',
    explanation: 'Adds hours to a member’s wallet after a bank transfer, up to the hours per day below.',
  },
  'aggregates.read': {
    label: 'See community totals',
    explanation: 'Rounded figures of the whole community, from which nobody can be recognised.',
  },
  'webhooks.manage': {
    label: 'Be told of changes',
    explanation: 'The partner’s own system is notified, only about what it may read anyway.',
  },
}

export const SCOPES = Object.entries(WORDS).map(([name, words]) => ({ name: name as Scope, ...words }))

export function scopeLabel(name: Scope): string {
  // A service newer than this page may know more scopes.
  return WORDS[name]?.label ?? name
}
