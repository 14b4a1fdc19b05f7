import { PasswordInput, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation, useRouter } from '@tanstack/react-router'
import { ApiError, api } from '../../api.ts'
import { PageLoading } from '../../layout/page-states.tsx'
import { PlainPage } from '../../layout/plain-page.tsx'
import { Form } from '../../parts/form.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useForm } from '../../parts/use-form.ts'
import { beginSession } from '../../session.ts'
import type { LinkState, Session } from '../../wire.ts'

/** A one-time link: an invitation, or a new password. The token is in the fragment, which reaches no log. */
export function Link() {
  const token = useLocation({ select: (location) => location.hash })
  const state = useQuery({
    queryKey: ['link', token],
    queryFn: ({ signal }) => api.post<LinkState>('/links/inspect', { token }, { signal, signedOut: true }),
    enabled: token !== '',
  })
  if (!token) return <Invalid />
  if (state.isPending) return <PageLoading />
  if (state.isError) {
    const isGone = state.error instanceof ApiError && [404, 410, 422].includes(state.error.status)
    if (isGone) return <Invalid />
    return (
      <PlainPage title="One-time link">
        <Problem error={state.error} again={() => void state.refetch()} />
      </PlainPage>
    )
  }
  return <UseLink token={token} link={state.data} />
}

function Invalid() {
  return (
    <PlainPage
      title="This link is no longer valid"
      description="It has been used or has expired, or part of it is missing. Ask for a new one."
    >
      <LinkButton to="/sign-in" variant="default">
        To the sign-in
      </LinkButton>
    </PlainPage>
  )
}

function UseLink({ token, link }: { token: string; link: LinkState }) {
  const router = useRouter()
  const isInvitation = link.purpose === 'invitation'
  const form = useForm({
    initial: { name: link.name, password: '' },
    save: ({ name, password }) =>
      api.post<Session>('/links/use', { token, password, ...(isInvitation ? { name } : {}) }, { signedOut: true }),
    onSaved: (session) => {
      beginSession(session)
      router.history.replace(import.meta.env.BASE_URL)
    },
  })
  return (
    <PlainPage
      title={isInvitation ? 'You are invited' : 'Choose a new password'}
      description={
        isInvitation ? `To help administer ${link.communities.join(', ')}.` : 'It ends all your sessions elsewhere.'
      }
    >
      <Text size="sm" c="dimmed">
        For {link.email}. The link is valid until <Time value={link.expires_at} />.
      </Text>
      <Form form={form} submit={isInvitation ? 'Accept' : 'Save password'} guard={false}>
        {isInvitation && <TextInput label="Your name" autoComplete="name" {...form.text('name')} />}
        {/* For the browser's password manager, which would otherwise not know whose password it is. */}
        <input type="hidden" name="email" autoComplete="username" value={link.email} readOnly />
        <PasswordInput
          label="New password"
          description="At least 12 characters."
          autoComplete="new-password"
          {...form.text('password')}
        />
      </Form>
    </PlainPage>
  )
}
