import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { IconName } from '../parts/icons.tsx'

/** Pressed before the `key` of a page. */
export const GO_TO_KEY = 'g'

/** The pages of a community, in the order of the navigation; Ctrl-K finds them too. */
export const PAGES = [
  { group: 'community', to: '/$slug/overview', label: msg`Overview`, icon: 'overview', key: 'o' },
  { group: 'community', to: '/$slug/alerts', label: msg`Alerts`, icon: 'bell', key: 't' },
  { group: 'community', to: '/$slug/members', label: msg`Members`, icon: 'members', key: 'm' },
  { group: 'community', to: '/$slug/listings', label: msg`Listings`, icon: 'listings', key: 'l' },
  { group: 'community', to: '/$slug/exchanges', label: msg`Exchanges`, icon: 'exchanges', key: 'e' },
  { group: 'partners', to: '/$slug/partners', label: msg`Partners`, icon: 'partners', key: 'p' },
  { group: 'partners', to: '/$slug/calls', label: msg`Calls`, icon: 'calls', key: 'c' },
  { group: 'partners', to: '/$slug/webhooks', label: msg`Webhooks`, icon: 'webhooks', key: 'w' },
  { group: 'administration', to: '/$slug/community', label: msg`Settings`, icon: 'community', key: 's' },
  { group: 'administration', to: '/$slug/audit', label: msg`Audit`, icon: 'audit', key: 'a' },
] as const satisfies readonly { group: string; to: string; label: MessageDescriptor; icon: IconName; key: string }[]

export const GROUPS = [
  { id: 'community', label: msg`Community` },
  { id: 'partners', label: msg`Partners` },
  { id: 'administration', label: msg`Administration` },
] as const
