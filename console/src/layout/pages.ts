import type { IconName } from '../parts/icons.tsx'

/** Pressed before the `key` of a page. */
export const GO_TO_KEY = 'g'

/** The pages of a community, in the order of the navigation; Ctrl-K finds them too. */
export const PAGES = [
  { group: 'Community', to: '/$slug/overview', label: 'Overview', icon: 'overview', key: 'o' },
  { group: 'Community', to: '/$slug/alerts', label: 'Alerts', icon: 'bell', key: 't' },
  { group: 'Community', to: '/$slug/members', label: 'Members', icon: 'members', key: 'm' },
  { group: 'Community', to: '/$slug/listings', label: 'Listings', icon: 'listings', key: 'l' },
  { group: 'Community', to: '/$slug/exchanges', label: 'Exchanges', icon: 'exchanges', key: 'e' },
  { group: 'Partners', to: '/$slug/partners', label: 'Partners', icon: 'partners', key: 'p' },
  { group: 'Partners', to: '/$slug/calls', label: 'Calls', icon: 'calls', key: 'c' },
  { group: 'Partners', to: '/$slug/webhooks', label: 'Webhooks', icon: 'webhooks', key: 'w' },
  { group: 'Administration', to: '/$slug/community', label: 'Settings', icon: 'community', key: 's' },
  { group: 'Administration', to: '/$slug/audit', label: 'Audit', icon: 'audit', key: 'a' },
] as const satisfies readonly { group: string; to: string; label: string; icon: IconName; key: string }[]

export const GROUPS = ['Community', 'Partners', 'Administration'] as const
