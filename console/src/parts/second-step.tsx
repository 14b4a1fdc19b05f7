import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Group, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api.ts'
import { translate } from '../language/translate.ts'
import { signWithPasskey } from '../passkeys.ts'
import { finishSignIn } from '../session.ts'
import type { SecondStep as Offer, Session } from '../wire.ts'
import { Form } from './form.tsx'
import { PasskeyButton } from './passkey-button.tsx'
import { useForm } from './use-form.ts'

interface Props {
  onSignedIn: (session: Session) => void
  /** Back to the password. */
  again: () => void
}

type Method = keyof Offer

const WORDS: Record<Method, MessageDescriptor> = {
  passkey: msg`Use a passkey`,
  app: msg`Use the authenticator app`,
  recovery_code: msg`Use a recovery code`,
}

/** If the question fails, whatever there may be is offered: a wrong choice only costs a try. */
const EVERYTHING: Offer = { passkey: true, app: true, recovery_code: true }

/** After the password: a passkey, a code of the authenticator app, or a recovery code. */
export function SecondStep({ onSignedIn, again }: Props) {
  const offer = useQuery({
    queryKey: ['second step'],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: () => api.get<Offer>('/session/second-factor', { signedOut: true }).catch(() => EVERYTHING),
  }).data
  const [chosen, setChosen] = useState<Method>()
  if (!offer) return null
  const offered = (Object.keys(WORDS) as Method[]).filter((method) => offer[method])
  const method = chosen ?? offered[0] ?? 'app'
  return (
    <>
      {method === 'passkey' && <UsePasskey onSignedIn={onSignedIn} />}
      {method === 'app' && <AppCode onSignedIn={onSignedIn} />}
      {method === 'recovery_code' && <RecoveryCode onSignedIn={onSignedIn} />}
      <Group justify="space-between" mt="md">
        {offered
          .filter((other) => other !== method)
          .map((other) => (
            <Anchor key={other} component="button" type="button" size="sm" onClick={() => setChosen(other)}>
              {translate(WORDS[other])}
            </Anchor>
          ))}
        <Anchor component="button" type="button" size="sm" onClick={again}>
          <Trans>Start again</Trans>
        </Anchor>
      </Group>
    </>
  )
}

function UsePasskey({ onSignedIn }: Pick<Props, 'onSignedIn'>) {
  return (
    <PasskeyButton
      action={async () => {
        const passkey = await signWithPasskey('/session/second-factor')
        onSignedIn(await finishSignIn({ passkey }))
      }}
    />
  )
}

function AppCode({ onSignedIn }: Pick<Props, 'onSignedIn'>) {
  const form = useForm({ initial: { code: '' }, save: finishSignIn, onSaved: onSignedIn })
  return (
    <Form form={form} submit={t`Continue`} guard={false}>
      <CodeInput {...form.text('code')} />
    </Form>
  )
}

function RecoveryCode({ onSignedIn }: Pick<Props, 'onSignedIn'>) {
  const form = useForm({ initial: { recovery_code: '' }, save: finishSignIn, onSaved: onSignedIn })
  return (
    <Form form={form} submit={t`Continue`} guard={false}>
      <TextInput
        label={t`Recovery code`}
        description={t`One that you have not used yet. It works once.`}
        autoComplete="off"
        dir="ltr"
        autoFocus
        {...form.text('recovery_code')}
      />
    </Form>
  )
}

/** Password managers fill it in. */
export function CodeInput(props: Omit<React.ComponentProps<typeof TextInput>, 'label'>) {
  return (
    <TextInput
      label={t`Code from the authenticator app`}
      description={t`Six digits. Each code works once.`}
      autoComplete="one-time-code"
      inputMode="numeric"
      maxLength={7}
      autoFocus
      data-autofocus
      {...props}
    />
  )
}
