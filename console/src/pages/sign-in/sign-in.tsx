import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, PasswordInput, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useRouter, useSearch } from '@tanstack/react-router'
import { PlainPage } from '../../layout/plain-page.tsx'
import { Form } from '../../parts/form.tsx'
import { LinkText } from '../../parts/links.tsx'
import { SecondStep } from '../../parts/second-step.tsx'
import { useForm } from '../../parts/use-form.ts'
import { beginSession, sessionQuery, signIn, signOut } from '../../session.ts'
import type { Session } from '../../wire.ts'
import { resetWithoutMail, useSetupState } from './no-mail.ts'

export function SignIn() {
  const { next } = useSearch({ strict: false }) as { next?: string }
  const router = useRouter()
  const session = useQuery(sessionQuery).data
  const openNext = () => router.history.push(safeNext(next))
  if (session) return <AlreadySignedIn session={session} openNext={openNext} />
  return <SignInForm openNext={openNext} />
}

function SignInForm({ openNext }: { openNext: () => void }) {
  const [isSecondStep, setSecondStep] = useState(false)
  const begin = (session: Session) => {
    beginSession(session)
    openNext()
  }
  const form = useForm({
    initial: { email: '', password: '' },
    save: ({ email, password }) => signIn(email.trim(), password),
    onSaved: (session) => (session ? begin(session) : setSecondStep(true)),
  })
  if (isSecondStep) {
    return (
      <PlainPage
        title={t`Second step`}
        description={t`Your password is right. Now show that you have your second factor.`}
      >
        <SecondStep onSignedIn={begin} again={() => setSecondStep(false)} />
      </PlainPage>
    )
  }
  return (
    <PlainPage title={t`Sign in`} description={t`For administrators of a community.`} after={<Forgotten />}>
      <FirstRun />
      <Form form={form} submit={t`Sign in`} guard={false}>
        <TextInput label={t`Email`} type="email" autoComplete="username" inputMode="email" {...form.text('email')} />
        <PasswordInput label={t`Password`} autoComplete="current-password" {...form.text('password')} />
      </Form>
    </PlainPage>
  )
}

function Forgotten() {
  const state = useSetupState()
  if (state.data?.mail)
    return (
      <LinkText to="/forgotten-password">
        <Trans>Forgot your password?</Trans>
      </LinkText>
    )
  return (
    <>
      <Trans>Forgot your password?</Trans> {resetWithoutMail()}
    </>
  )
}

/** Shown while the service has no administrator. Never in the way: a failed question shows nothing. */
function FirstRun() {
  const state = useSetupState()
  if (!state.data?.needed) return null
  return (
    <Text>
      <Trans>
        This service has no administrator yet. <LinkText to="/set-up">Set it up</LinkText>
      </Trans>
    </Text>
  )
}

function AlreadySignedIn({ session, openNext }: { session: Session; openNext: () => void }) {
  const { name, email } = session.admin
  return (
    <PlainPage title={t`You are signed in`} description={t`As ${name} (${email}).`}>
      <Button onClick={openNext}>
        <Trans>Continue</Trans>
      </Button>
      <Button variant="default" onClick={() => void signOut()}>
        <Trans>Sign out</Trans>
      </Button>
    </PlainPage>
  )
}

/** Only an address within the console: the link that led here may have been written by anyone. */
function safeNext(next: string | undefined): string {
  const home = import.meta.env.BASE_URL
  if (!next || !URL.canParse(next, window.location.origin)) return home
  const address = new URL(next, window.location.origin)
  const isWithin = address.origin === window.location.origin && address.pathname.startsWith(home)
  return isWithin ? `${address.pathname}${address.search}` : home
}
