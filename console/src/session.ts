import { QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError, api, errorText } from './api.ts'
import { notifyFailure } from './parts/notices.tsx'
import type { Community, PasskeySignature, Role, Session } from './wire.ts'

const STALE_AFTER_MS = 15_000
const SESSION_STALE_AFTER_MS = 60_000

/** `api` itself waits for the connection, so neither a retry nor a pause is wanted here. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: STALE_AFTER_MS },
    mutations: { retry: false, networkMode: 'always' },
  },
})

/** The session, or null for someone who is not signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: SESSION_STALE_AFTER_MS,
  gcTime: Infinity,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
  refetchOnMount: false,
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return await api.get<Session>('/session', { signal, signedOut: true })
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
})

/** Asked again now and then on the way to a page, so that a changed role or a new community shows. */
export function fetchSession(): Promise<Session | null> {
  return queryClient.fetchQuery(sessionQuery)
}

let lastSession: Session | undefined

/** After every call that answers with a session of the same administrator. */
export function keepSession(session: Session): void {
  queryClient.setQueryData(sessionQuery.queryKey, session)
}

/** Someone has signed in on a page of their own: nothing of the previous person may stay. */
export function beginSession(session: Session): void {
  queryClient.clear()
  lastSession = session
  keepSession(session)
}

/** Undefined: the second factor is still to be asked for. */
export function signIn(email: string, password: string): Promise<Session | undefined> {
  return orSecondStep(api.post<Session>('/session', { email, password }, { signedOut: true }))
}

/** For every call that begins a session with a password. */
export async function orSecondStep(answer: Promise<Session>): Promise<Session | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && error.code === 'second_step_required') return undefined
    throw error
  }
}

type GivenFactor = { code: string } | { recovery_code: string } | { passkey: PasskeySignature }

export function finishSignIn(given: GivenFactor): Promise<Session> {
  return api.post<Session>('/session/second-factor', given, { signedOut: true })
}

/** The caller reloads the console: what one administrator saw is not for the next one at the same screen. */
export async function endSession(): Promise<void> {
  await api.delete('/session', { signedOut: true }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 401)) throw error
  })
}

/** If it fails, one stays, and is told why. */
export async function signOut(): Promise<void> {
  try {
    await endSession()
    window.location.assign(`${import.meta.env.BASE_URL}sign-in`)
  } catch (error) {
    notifyFailure(errorText(error))
  }
}

/**
 * The session on a page that one sees only when signed in. A page that is still open when the session is found to have
 * ended goes on with the last one: what is typed there must not vanish.
 */
export function useSession(): Session {
  const session = useQuery(sessionQuery).data ?? lastSession
  if (!session) throw new Error('this page is shown only to someone signed in')
  lastSession = session
  return session
}

let lastSlug: string | undefined

/** The community with this slug; on pages without one (the account) the one that was shown last. */
export function showCommunity(communities: Community[], slug: string | undefined): Community | undefined {
  const shown = communities.find((one) => one.slug === (slug ?? lastSlug)) ?? (slug ? undefined : communities[0])
  if (shown) lastSlug = shown.slug
  return shown
}

/** The community of the address. */
export function useCommunity(): Community {
  const { slug } = useParams({ strict: false })
  const community = useSession().communities.find((one) => one.slug === slug)
  if (!community) throw new Error('this page is shown only within a community')
  return community
}

/** The path of a call within the community of the address: `path('/members')`. An id of the address is the second part. */
export function useCommunityPath(): (path?: string, id?: string | number) => string {
  const { slug } = useCommunity()
  return (path = '', id = undefined) =>
    `/communities/${slug}${path}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`
}

const RANK: Record<Role, number> = { viewer: 0, manager: 1, owner: 2 }

/** Who may not do something does not see its button; the service refuses it all the same. */
export function useRole(): { role: Role; mayManage: boolean; isOwner: boolean } {
  const { role } = useCommunity()
  return { role, mayManage: RANK[role] >= RANK.manager, isOwner: role === 'owner' }
}

/** The id of the person whose page this is. */
export function lastAdminId(): number | undefined {
  return lastSession?.admin.id
}

/** The email of the person who is signed in, or was until now. */
export function lastEmail(): string | undefined {
  return lastSession?.admin.email
}
