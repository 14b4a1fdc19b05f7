import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
  type RouteComponent,
} from '@tanstack/react-router'
import { whenConnected } from './connection.ts'
import { chooseLanguage } from './language/language.ts'
import { NotFound, PageError, PageLoading } from './layout/page-states.tsx'
import { Root } from './layout/root.tsx'
import { Shell } from './layout/shell.tsx'
import { wantFocus } from './page-title.ts'
import { auditSearch } from './pages/audit/search.ts'
import { callsSearch } from './pages/calls/search.ts'
import { communitySearch } from './pages/community/search.ts'
import { exchangesSearch, recordSearch } from './pages/exchanges/search.ts'
import { listingsSearch } from './pages/listings/search.ts'
import { memberSearch } from './pages/member/search.ts'
import { printSearch } from './pages/members/print-search.ts'
import { membersSearch } from './pages/members/search.ts'
import { partnerSearch } from './pages/partner/search.ts'
import { partnersSearch } from './pages/partners/search.ts'
import { subscriptionSearch } from './pages/subscription/search.ts'
import { webhooksSearch } from './pages/webhooks/search.ts'
import { readSearch, writeSearch } from './search-params.ts'
import { fetchSession, showCommunity } from './session.ts'
import type { Session } from './wire.ts'

/**
 * A page in a chunk of its own, loaded when it is opened. The module's type is not looked into: pages use the router's
 * types, and the router's types would otherwise depend on the pages.
 */
function page(load: () => Promise<Record<string, unknown>>, name: string): RouteComponent {
  const loadPage = () => whenConnected(load as () => Promise<Record<string, RouteComponent>>)
  return lazyRouteComponent(loadPage, name) as RouteComponent
}

/** The session, or the way to where one gets it. */
async function signedIn(publicHref: string): Promise<Session> {
  const session = await fetchSession()
  if (!session) throw redirect({ to: '/sign-in', search: { next: publicHref } })
  if (session.password_change_required) throw redirect({ to: '/password' })
  return session
}

const root = createRootRoute({ component: Root })

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async ({ location }) => {
    const { communities } = await signedIn(location.publicHref)
    const [only] = communities
    if (only && communities.length === 1) throw redirect({ to: '/$slug/overview', params: { slug: only.slug } })
  },
  component: page(() => import('./pages/chooser/chooser.tsx'), 'Chooser'),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { next?: string } =>
    typeof search['next'] === 'string' ? { next: search['next'] } : {},
  component: page(() => import('./pages/sign-in/sign-in.tsx'), 'SignIn'),
})

const setUp = createRoute({
  getParentRoute: () => root,
  path: '/set-up',
  component: page(() => import('./pages/set-up/set-up.tsx'), 'SetUp'),
})

const forgottenPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgotten-password',
  component: page(() => import('./pages/forgotten-password/forgotten-password.tsx'), 'ForgottenPassword'),
})

const link = createRoute({
  getParentRoute: () => root,
  path: '/link',
  component: page(() => import('./pages/link/link.tsx'), 'Link'),
})

const password = createRoute({
  getParentRoute: () => root,
  path: '/password',
  beforeLoad: async ({ location }) => {
    const session = await fetchSession()
    if (!session) throw redirect({ to: '/sign-in', search: { next: location.publicHref } })
  },
  component: page(() => import('./pages/password/password.tsx'), 'Password'),
})

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad: async ({ location, params, preload }) => {
    const session = await signedIn(location.publicHref)
    // Pointing at a link loads its page beforehand, and shows nothing of it yet.
    if (preload) return session
    const { slug } = params as { slug?: string }
    const shown = showCommunity(session.communities, slug) ?? session.communities[0]
    await whenConnected(() => chooseLanguage(session.admin.language, shown?.language))
    return session
  },
  component: Shell,
})

const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: page(() => import('./pages/account/account.tsx'), 'Account'),
})

const community = createRoute({
  getParentRoute: () => shell,
  path: '/$slug',
  beforeLoad: async ({ params, location }) => {
    const { communities, second_factor } = await signedIn(location.publicHref)
    const found = communities.find((one) => one.slug === params.slug)
    if (!found) throw notFound()
    if (found.second_factor_required && !second_factor) throw redirect({ to: '/account' })
  },
})

const communityStart = createRoute({
  getParentRoute: () => community,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/$slug/overview', params, replace: true })
  },
})

// The pages of a community, in the order of the navigation. Each page's folder holds what its address may carry
// (search.ts, loaded at once) and the page itself (loaded when it is opened).
const pages = [
  createRoute({
    getParentRoute: () => community,
    path: '/overview',
    component: page(() => import('./pages/overview/overview.tsx'), 'Overview'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/alerts',
    component: page(() => import('./pages/alerts/alerts.tsx'), 'Alerts'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/partners',
    validateSearch: partnersSearch,
    component: page(() => import('./pages/partners/partners.tsx'), 'Partners'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/partners/$id',
    validateSearch: partnerSearch,
    component: page(() => import('./pages/partner/partner.tsx'), 'Partner'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/calls',
    validateSearch: callsSearch,
    component: page(() => import('./pages/calls/calls.tsx'), 'Calls'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/webhooks',
    validateSearch: webhooksSearch,
    component: page(() => import('./pages/webhooks/webhooks.tsx'), 'Webhooks'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/webhooks/$id',
    validateSearch: subscriptionSearch,
    component: page(() => import('./pages/subscription/subscription.tsx'), 'Subscription'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/members',
    validateSearch: membersSearch,
    component: page(() => import('./pages/members/members.tsx'), 'Members'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/members/import',
    component: page(() => import('./pages/members/import-members.tsx'), 'ImportMembers'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/members/statements',
    validateSearch: printSearch,
    component: page(() => import('./pages/members/print-statements.tsx'), 'PrintStatements'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/members/$id',
    validateSearch: memberSearch,
    component: page(() => import('./pages/member/member.tsx'), 'Member'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/members/$id/statement',
    validateSearch: memberSearch,
    component: page(() => import('./pages/member/printed-statement.tsx'), 'PrintedStatement'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/listings',
    validateSearch: listingsSearch,
    component: page(() => import('./pages/listings/listings.tsx'), 'Listings'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/listings/import',
    component: page(() => import('./pages/listings/import-listings.tsx'), 'ImportListings'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/exchanges',
    validateSearch: exchangesSearch,
    component: page(() => import('./pages/exchanges/exchanges.tsx'), 'Exchanges'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/exchanges/record',
    validateSearch: recordSearch,
    component: page(() => import('./pages/exchanges/record-exchanges.tsx'), 'RecordExchanges'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/community',
    validateSearch: communitySearch,
    component: page(() => import('./pages/community/community.tsx'), 'CommunityPage'),
  }),
  createRoute({
    getParentRoute: () => community,
    path: '/audit',
    validateSearch: auditSearch,
    component: page(() => import('./pages/audit/audit.tsx'), 'Audit'),
  }),
] as const

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    signIn,
    setUp,
    link,
    forgottenPassword,
    password,
    shell.addChildren([account, community.addChildren([communityStart, ...pages])]),
  ]),
  basepath: import.meta.env.BASE_URL.replace(/\/$/, ''),
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  // Another member or community is another page: nothing that was shown, marked or typed for one may stay for the next.
  defaultRemountDeps: ({ params }) => params,
  scrollRestoration: true,
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: NotFound,
})

router.subscribe('onBeforeNavigate', ({ fromLocation, pathChanged }) => {
  if (fromLocation && pathChanged) wantFocus()
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
