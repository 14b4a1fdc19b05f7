import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { translate } from '../../language/translate.ts'
import type { Scope } from '../../wire.ts'

interface ScopeWords {
  /** What it lets a partner do. */
  label: MessageDescriptor
  explanation: MessageDescriptor
  /** Lets the partner see who somebody is. */
  personal?: true
}

/** In the order of the specification. */
const WORDS: Record<Scope, ScopeWords> = {
  'users.read': {
    label: msg`See members`,
    explanation: msg`Names, payment references and when somebody joined. Not those who are hidden from partners.`,
    personal: true,
  },
  'users.pii': {
    label: msg`See email addresses`,
    explanation: msg`Adds the email address to each member. Works only together with “See members”.`,
    personal: true,
  },
  'listings.read': { label: msg`See listings`, explanation: msg`The services and requests that members have posted.` },
  'wallet.read': { label: msg`Read balances`, explanation: msg`How many hours a member has.` },
  'wallet.write': {
    label: msg`Credit hours`,
    explanation: msg`Adds hours to a member’s wallet after a bank transfer, up to the partner’s daily limit.`,
  },
  'aggregates.read': {
    label: msg`See community totals`,
    explanation: msg`Rounded figures of the whole community, from which nobody can be recognised.`,
  },
  'webhooks.manage': {
    label: msg`Get notified of changes`,
    explanation: msg`The partner’s own system is notified, but only about what it may read.`,
  },
}

export const SCOPES = Object.entries(WORDS).map(([name, words]) => ({ name: name as Scope, ...words }))

export function scopeLabel(name: Scope): string {
  // A service newer than this page may know more scopes.
  const known = WORDS[name]
  return known ? translate(known.label) : name
}
