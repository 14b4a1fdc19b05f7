import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { PasswordInput, Text } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api.ts'
import { PlainPage } from '../../layout/plain-page.tsx'
import { Form } from '../../parts/form.tsx'
import { SecondStep } from '../../parts/second-step.tsx'
import { Time } from '../../parts/time.tsx'
import { useForm } from '../../parts/use-form.ts'
import { beginSession, orSecondStep } from '../../session.ts'
import type { LinkState, Session } from '../../wire.ts'

interface Props {
  token: string
  link: Pick<LinkState, 'email' | 'expires_at'>
}

export function ResetPassword({ token, link }: Props) {
  const router = useRouter()
  const [isSecondStep, setSecondStep] = useState(false)
  const onSignedIn = (session: Session) => {
    beginSession(session)
    router.history.replace(import.meta.env.BASE_URL)
  }
  const form = useForm({
    initial: { password: '' },
    save: ({ password }) => orSecondStep(api.post<Session>('/links/use', { token, password }, { signedOut: true })),
    onSaved: (session) => (session ? onSignedIn(session) : setSecondStep(true)),
  })
  if (isSecondStep) {
    return (
      <PlainPage
        title={t`Second step`}
        description={t`The password is saved. Now show that you have your second factor.`}
      >
        <SecondStep
          onSignedIn={onSignedIn}
          again={() => router.history.replace(`${import.meta.env.BASE_URL}sign-in`)}
        />
      </PlainPage>
    )
  }
  return (
    <PlainPage title={t`Choose a new password`} description={t`It ends all your sessions elsewhere.`}>
      <Text size="sm" c="dimmed">
        <Trans>
          For {link.email}. The link is valid until <Time value={link.expires_at} />.
        </Trans>
      </Text>
      <Form form={form} submit={t`Save password`} guard={false}>
        {/* For the browser's password manager, which would otherwise not know whose password it is. */}
        <input type="hidden" name="email" autoComplete="username" value={link.email} readOnly />
        <PasswordInput
          label={t`New password`}
          description={t`At least 12 characters.`}
          autoComplete="new-password"
          {...form.text('password')}
        />
      </Form>
    </PlainPage>
  )
}
