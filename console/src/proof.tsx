import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Button, Group, PasswordInput, Text } from '@mantine/core'
import { useState, useSyncExternalStore } from 'react'
import { api } from './api.ts'
import { translate } from './language/translate.ts'
import { Modal } from './parts/dialog.tsx'
import { Form } from './parts/form.tsx'
import { PasskeyButton } from './parts/passkey-button.tsx'
import { CodeInput } from './parts/second-step.tsx'
import { useForm } from './parts/use-form.ts'
import { signWithPasskey } from './passkeys.ts'
import { freshProof } from './questions.ts'
import { useRead } from './reading.ts'
import { lastEmail, useSession } from './session.ts'
import type { SecondFactor } from './wire.ts'

/** Asked before a sensitive action, which is sent again by itself afterwards. */
export function Proof() {
  const answer = useSyncExternalStore(freshProof.watch, freshProof.current)
  return (
    <Modal
      opened={answer !== undefined}
      onClose={() => answer?.(false)}
      closeOnClickOutside={false}
      title={t`Is it still you?`}
      zIndex={390}
    >
      {answer && <GiveProof answer={answer} />}
    </Modal>
  )
}

type Answer = (yes: boolean) => void

type Method = 'passkey' | 'code' | 'password'

const WORDS: Record<Method, MessageDescriptor> = {
  passkey: msg`Use a passkey`,
  code: msg`Use the authenticator app`,
  password: msg`Use the password`,
}

function GiveProof({ answer }: { answer: Answer }) {
  const { second_factor: hasSecondFactor } = useSession()
  return (
    <>
      <Text mb="md">
        <Trans>This action is sensitive, and you last proved who you are more than 15 minutes ago.</Trans>
      </Text>
      {hasSecondFactor ? <BySecondFactor answer={answer} /> : <ByPassword answer={answer} />}
    </>
  )
}

function BySecondFactor({ answer }: { answer: Answer }) {
  const factor = useRead<SecondFactor>('/second-factor')
  const [chosen, setChosen] = useState<Method>()
  if (factor.isPending) return null
  const offered: Method[] = ['password']
  if (factor.data?.app) offered.unshift('code')
  if (factor.data && factor.data.passkeys.length > 0) offered.unshift('passkey')
  const method = chosen ?? offered[0]
  return (
    <>
      {method === 'passkey' && <ByPasskey answer={answer} />}
      {method === 'code' && <ByCode answer={answer} />}
      {method === 'password' && <ByPassword answer={answer} />}
      <Group mt="md">
        {offered
          .filter((other) => other !== method)
          .map((other) => (
            <Anchor key={other} component="button" type="button" size="sm" onClick={() => setChosen(other)}>
              {translate(WORDS[other])}
            </Anchor>
          ))}
      </Group>
    </>
  )
}

const prove = (given: object) => api.post('/session/proof', given)

function ByPassword({ answer }: { answer: Answer }) {
  const form = useForm({ initial: { password: '' }, save: prove, onSaved: () => answer(true) })
  return (
    <Form form={form} submit={t`Continue`} guard={false} actions={<Cancel answer={answer} />}>
      {/* For the browser's password manager, which would otherwise not know whose password it is. */}
      <input type="hidden" name="email" autoComplete="username" value={lastEmail() ?? ''} readOnly />
      <PasswordInput label={t`Password`} autoComplete="current-password" data-autofocus {...form.text('password')} />
    </Form>
  )
}

function ByCode({ answer }: { answer: Answer }) {
  const form = useForm({ initial: { code: '' }, save: prove, onSaved: () => answer(true) })
  return (
    <Form form={form} submit={t`Continue`} guard={false} actions={<Cancel answer={answer} />}>
      <CodeInput {...form.text('code')} />
    </Form>
  )
}

function ByPasskey({ answer }: { answer: Answer }) {
  const action = async () => {
    await prove({ passkey: await signWithPasskey('/session/proof') })
    answer(true)
  }
  return <PasskeyButton action={action} actions={<Cancel answer={answer} />} />
}

function Cancel({ answer }: { answer: Answer }) {
  return (
    <Button variant="default" onClick={() => answer(false)}>
      <Trans>Cancel</Trans>
    </Button>
  )
}
