import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api.ts'
import { PlainPage } from '../../layout/plain-page.tsx'
import { Form } from '../../parts/form.tsx'
import { roleName } from '../../parts/role-name.ts'
import { Time } from '../../parts/time.tsx'
import { SecondStep } from '../../parts/second-step.tsx'
import { useForm } from '../../parts/use-form.ts'
import { beginSession, endSession, keepSession, signIn } from '../../session.ts'
import type { Role, Session } from '../../wire.ts'
import { ChangePassword } from '../password/change-password.tsx'

interface Offer {
  token: string
  email: string
  community: string
  role: Role
  /** As the owner wrote it. */
  name: string
  expires_at: string
}

/**
 * An offered role. People who have an account accept it signed in; a link never sets the password of an account. The page
 * does not know whether there is one, because the owner who made the link can open it too.
 */
export function InvitationPage({ offer, session }: { offer: Offer; session: Session | undefined }) {
  const { community } = offer
  const role = roleName(offer.role)
  return (
    <PlainPage title={t`You are invited`} description={t`To help administer ${community}, as ${role}.`}>
      <Text size="sm" c="dimmed" mb="md">
        <Trans>
          For {offer.email}. The link is valid until <Time value={offer.expires_at} />.
        </Trans>
      </Text>
      <Answer offer={offer} session={session} />
    </PlainPage>
  )
}

function Answer({ offer, session }: { offer: Offer; session: Session | undefined }) {
  if (!session) return <NotSignedIn offer={offer} />
  if (session.admin.email.toLowerCase() !== offer.email.toLowerCase()) return <SomeoneElse offer={offer} of={session} />
  if (!session.password_change_required) return <Accept offer={offer} />
  return (
    <Stack>
      <Text>
        <Trans>You signed in with a one-time password. Choose your own to go on.</Trans>
      </Text>
      <ChangePassword currentLabel={t`One-time password`} onChanged={() => {}} />
    </Stack>
  )
}

function NotSignedIn({ offer }: { offer: Offer }) {
  const [hasAccount, setHasAccount] = useState(false)
  return (
    <Stack>
      {hasAccount ? <SignInToAccept offer={offer} /> : <CreateAccount offer={offer} />}
      <Button variant="subtle" onClick={() => setHasAccount(!hasAccount)}>
        {hasAccount ? t`Create an account instead` : t`I have an account already`}
      </Button>
    </Stack>
  )
}

function CreateAccount({ offer }: { offer: Offer }) {
  const onSignedIn = useSignedIn()
  const form = useForm({
    initial: { name: offer.name, password: '' },
    save: (values) => api.post<Session>('/links/use', { token: offer.token, ...values }, { signedOut: true }),
    onSaved: onSignedIn,
  })
  return (
    <Form form={form} submit={t`Create the account and accept`} guard={false}>
      <TextInput label={t`Your name`} autoComplete="name" {...form.text('name')} />
      {/* For the browser's password manager, which would otherwise not know whose password it is. */}
      <input type="hidden" name="email" autoComplete="username" value={offer.email} readOnly />
      <PasswordInput
        label={t`New password`}
        description={t`At least 12 characters.`}
        autoComplete="new-password"
        {...form.text('password')}
      />
    </Form>
  )
}

function SignInToAccept({ offer }: { offer: Offer }) {
  const [isSecondStep, setSecondStep] = useState(false)
  const form = useForm({
    initial: { email: offer.email, password: '' },
    save: ({ email, password }) => signIn(email, password),
    // Signing out reloads the console, so nothing of the previous person is left.
    onSaved: (session) => (session ? keepSession(session) : setSecondStep(true)),
  })
  if (isSecondStep) return <SecondStep onSignedIn={beginSession} again={() => setSecondStep(false)} />
  return (
    <Form form={form} submit={t`Sign in`} guard={false}>
      <TextInput label={t`Email`} type="email" autoComplete="username" {...form.text('email')} readOnly />
      <PasswordInput label={t`Password`} autoComplete="current-password" {...form.text('password')} />
    </Form>
  )
}

function Accept({ offer }: { offer: Offer }) {
  const onSignedIn = useSignedIn()
  const form = useForm({
    initial: { name: offer.name },
    save: ({ name }) => api.post<Session>('/links/accept', { token: offer.token, name }),
    onSaved: onSignedIn,
  })
  return (
    <Form form={form} submit={t`Accept`} guard={false}>
      <TextInput
        label={t`Your name`}
        description={t`As this community sees it. Other communities keep theirs.`}
        autoComplete="name"
        {...form.text('name')}
      />
    </Form>
  )
}

function SomeoneElse({ offer, of: { admin } }: { offer: Offer; of: Session }) {
  return (
    <Stack>
      <Text>
        <Trans>
          You are signed in as {admin.name} ({admin.email}). To accept, sign in as {offer.email}.
        </Trans>
      </Text>
      <Button onClick={() => void endSession().then(() => window.location.reload())}>
        <Trans>Sign out and go on</Trans>
      </Button>
    </Stack>
  )
}

function useSignedIn(): (session: Session) => void {
  const router = useRouter()
  return (session) => {
    beginSession(session)
    router.history.replace(import.meta.env.BASE_URL)
  }
}
