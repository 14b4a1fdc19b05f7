import { Anchor, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { finishSignIn } from '../session.ts'
import type { Session } from '../wire.ts'
import { Form } from './form.tsx'
import { useForm } from './use-form.ts'

interface Props {
  onSignedIn: (session: Session) => void
  /** Back to the password. */
  again: () => void
}

/** After the password: a code of the authenticator app, or a recovery code. */
export function SecondStep({ onSignedIn, again }: Props) {
  const [hasApp, setHasApp] = useState(true)
  return (
    <>
      {hasApp ? <AppCode onSignedIn={onSignedIn} /> : <RecoveryCode onSignedIn={onSignedIn} />}
      <Group justify="space-between" mt="md">
        <Anchor component="button" type="button" size="sm" onClick={() => setHasApp(!hasApp)}>
          {hasApp ? 'Use a recovery code' : 'Use the authenticator app'}
        </Anchor>
        <Anchor component="button" type="button" size="sm" onClick={again}>
          Start again
        </Anchor>
      </Group>
    </>
  )
}

function AppCode({ onSignedIn }: Pick<Props, 'onSignedIn'>) {
  const form = useForm({ initial: { code: '' }, save: finishSignIn, onSaved: onSignedIn })
  return (
    <Form form={form} submit="Go on" guard={false}>
      <CodeInput {...form.text('code')} />
    </Form>
  )
}

function RecoveryCode({ onSignedIn }: Pick<Props, 'onSignedIn'>) {
  const form = useForm({ initial: { recovery_code: '' }, save: finishSignIn, onSaved: onSignedIn })
  return (
    <Form form={form} submit="Go on" guard={false}>
      <TextInput
        label="Recovery code"
        description="One that you have not used yet. It works once."
        autoComplete="off"
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
      label="Code from the authenticator app"
      description="Six digits. Each code works once."
      autoComplete="one-time-code"
      inputMode="numeric"
      maxLength={7}
      autoFocus
      data-autofocus
      {...props}
    />
  )
}
