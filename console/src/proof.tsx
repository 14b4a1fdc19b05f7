import { Anchor, Button, Modal, PasswordInput, Text } from '@mantine/core'
import { useState, useSyncExternalStore } from 'react'
import { api } from './api.ts'
import { Form } from './parts/form.tsx'
import { createQuestion } from './parts/question.ts'
import { CodeInput } from './parts/second-step.tsx'
import { useForm } from './parts/use-form.ts'
import { lastEmail, useSession } from './session.ts'

const question = createQuestion()

export const askForProof = question.ask

/** Asked before a sensitive action, which is sent again by itself afterwards. */
export function Proof() {
  const answer = useSyncExternalStore(question.watch, question.current)
  return (
    <Modal
      opened={answer !== undefined}
      onClose={() => answer?.(false)}
      closeOnClickOutside={false}
      title="Is it still you?"
      zIndex={390}
    >
      {answer && <GiveProof answer={answer} />}
    </Modal>
  )
}

type Answer = (yes: boolean) => void

function GiveProof({ answer }: { answer: Answer }) {
  const { second_factor: hasSecondFactor } = useSession()
  const [byCode, setByCode] = useState(hasSecondFactor)
  return (
    <>
      <Text mb="md">This action is sensitive, and you last proved who you are more than 15 minutes ago.</Text>
      {byCode ? <ByCode answer={answer} /> : <ByPassword answer={answer} />}
      {hasSecondFactor && (
        <Anchor component="button" type="button" size="sm" mt="md" onClick={() => setByCode(!byCode)}>
          {byCode ? 'Use the password' : 'Use the authenticator app'}
        </Anchor>
      )}
    </>
  )
}

const prove = (given: object) => api.post('/session/proof', given)

function ByPassword({ answer }: { answer: Answer }) {
  const form = useForm({ initial: { password: '' }, save: prove, onSaved: () => answer(true) })
  return (
    <Form form={form} submit="Go on" guard={false} actions={<Cancel answer={answer} />}>
      {/* For the browser's password manager, which would otherwise not know whose password it is. */}
      <input type="hidden" name="email" autoComplete="username" value={lastEmail() ?? ''} readOnly />
      <PasswordInput label="Password" autoComplete="current-password" data-autofocus {...form.text('password')} />
    </Form>
  )
}

function ByCode({ answer }: { answer: Answer }) {
  const form = useForm({ initial: { code: '' }, save: prove, onSaved: () => answer(true) })
  return (
    <Form form={form} submit="Go on" guard={false} actions={<Cancel answer={answer} />}>
      <CodeInput {...form.text('code')} />
    </Form>
  )
}

function Cancel({ answer }: { answer: Answer }) {
  return (
    <Button variant="default" onClick={() => answer(false)}>
      Cancel
    </Button>
  )
}
