import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, PasswordInput, Text, TextInput } from '@mantine/core'
import { useState, useSyncExternalStore } from 'react'
import { Modal } from './parts/dialog.tsx'
import { Form } from './parts/form.tsx'
import { SecondStep } from './parts/second-step.tsx'
import { useForm } from './parts/use-form.ts'
import { sessionEnded } from './questions.ts'
import { keepSession, lastEmail, signIn } from './session.ts'
import type { Session } from './wire.ts'

/** Lies over the page, which stays as it is: what was typed there is sent again by the same call. */
export function SessionEnded() {
  const answer = useSyncExternalStore(sessionEnded.watch, sessionEnded.current)
  return (
    <Modal
      opened={answer !== undefined}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={t`Your session has ended`}
      zIndex={400}
    >
      {answer && <SignInAgain answer={answer} />}
    </Modal>
  )
}

function SignInAgain({ answer }: { answer: (signedIn: boolean) => void }) {
  const known = lastEmail()
  const [isSecondStep, setSecondStep] = useState(false)
  const goOn = (session: Session) => {
    keepSession(session)
    answer(true)
  }
  const form = useForm({
    initial: { email: known ?? '', password: '' },
    save: ({ email, password }) => signIn(email, password),
    onSaved: (session) => (session ? goOn(session) : setSecondStep(true)),
  })
  if (isSecondStep) return <SecondStep onSignedIn={goOn} again={() => setSecondStep(false)} />
  return (
    <>
      <Text mb="md">
        <Trans>Sign in to go on; nothing you typed is lost.</Trans>
      </Text>
      <Form form={form} submit={t`Sign in`} guard={false}>
        {/* Only the same person may go on: what is on the page is theirs. */}
        <TextInput
          label={t`Email`}
          type="email"
          autoComplete="username"
          {...form.text('email')}
          readOnly={known !== undefined || form.busy}
        />
        <PasswordInput label={t`Password`} autoComplete="current-password" data-autofocus {...form.text('password')} />
      </Form>
      <Anchor href={`${import.meta.env.BASE_URL}sign-in`} size="sm" mt="md" display="inline-block">
        <Trans>Leave this page and sign in as someone else</Trans>
      </Anchor>
    </>
  )
}
