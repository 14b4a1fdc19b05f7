import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, api } from '../../api.ts'
import { PageLoading } from '../../layout/page-states.tsx'
import { PlainPage } from '../../layout/plain-page.tsx'
import { BusyButton } from '../../parts/busy-button.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { Problem } from '../../parts/problem.tsx'
import { sessionQuery } from '../../session.ts'
import type { LinkState } from '../../wire.ts'
import { useSetupState } from '../sign-in/no-mail.ts'
import { InvitationPage } from './invitation.tsx'
import { ResetPassword } from './reset-password.tsx'

/** A one-time link: an invitation, or a new password. The token is in the fragment, which reaches no log. */
export function Link() {
  const token = useLocation({ select: (location) => location.hash })
  const session = useQuery(sessionQuery)
  const state = useQuery({
    queryKey: ['link', token],
    queryFn: ({ signal }) => api.post<LinkState>('/links/inspect', { token }, { signal, signedOut: true }),
    enabled: token !== '',
    // Once it was used, it is no longer valid; the page goes on to the console then.
    refetchOnWindowFocus: false,
  })
  if (!token) return <Invalid />
  if (state.isPending || session.isPending) return <PageLoading />
  if (state.isError) {
    const isGone = state.error instanceof ApiError && [404, 410, 422].includes(state.error.status)
    if (isGone) return <Invalid token={token} />
    return (
      <PlainPage title={t`One-time link`}>
        <Problem error={state.error} again={() => void state.refetch()} />
      </PlainPage>
    )
  }
  const { invitation, ...link } = state.data
  if (!invitation) return <ResetPassword token={token} link={link} />
  return <InvitationPage offer={{ token, ...link, ...invitation }} session={session.data ?? undefined} />
}

/** How a link to an invitation begins; the service can mail a new one. */
const INVITATION = /^\d+\./

function Invalid({ token = '' }: { token?: string }) {
  const [sent, setSent] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const setup = useSetupState()
  const sendAgain = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await api.post('/links/send-again', { token }, { signedOut: true })
      setSent(true)
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <PlainPage
      title={t`This link is no longer valid`}
      description={t`It has been used or has expired, or part of it is missing. Ask for a new one.`}
    >
      {failure !== undefined && <Problem error={failure} />}
      {sent && (
        <Text role="status">
          <Trans>If the invitation is still open, a new link is on its way to you.</Trans>
        </Text>
      )}
      {setup.data?.mail && INVITATION.test(token) && !sent && (
        <BusyButton loading={busy} onClick={() => void sendAgain()}>
          <Trans>Send me a new link by mail</Trans>
        </BusyButton>
      )}
      <LinkButton to="/sign-in" variant="default">
        <Trans>Back to sign in</Trans>
      </LinkButton>
    </PlainPage>
  )
}
