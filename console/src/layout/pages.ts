import type { IconName } from '../parts/icons.tsx'

/** The pages of a community, in the order of the navigation; Ctrl-K finds them too. */
export const PAGES = [
  { group: 'Community', to: '/$slug/overview', label: 'Overview', icon: 'overview' },
  { group: 'Community', to: '/$slug/members', label: 'Members', icon: 'members' },
  { group: 'Community', to: '/$slug/listings', label: 'Listings', icon: 'listings' },
  { group: 'Community', to: '/$slug/exchanges', label: 'Exchanges', icon: 'exchanges' },
  { group: 'Partners', to: '/$slug/partners', label: 'Partners', icon: 'partners' },
  { group: 'Partners', to: '/$slug/calls', label: 'Calls', icon: 'calls' },
  { group: 'Partners', to: '/$slug/webhooks', label: 'Webhooks', icon: 'webhooks' },
  { group: 'Administration', to: '/$slug/community', label: 'Settings', icon: 'community' },
  { group: 'Administration', to: '/$slug/audit', label: 'Audit', icon: 'audit' },
] as const satisfies readonly { group: string; to: string; label: string; icon: IconName }[]

export const GROUPS = ['Community', 'Partners', 'Administration'] as const
