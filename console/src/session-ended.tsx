import { Anchor, Modal, PasswordInput, Text, TextInput } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { Form } from './parts/form.tsx'
import { useForm } from './parts/use-form.ts'
import { keepSession, lastEmail, signIn } from './session.ts'

interface Asked {
  promise: Promise<boolean>
  answer: (signedIn: boolean) => void
}

let asked: Asked | undefined
const watchers = new Set<() => void>()

function become(next: Asked | undefined): void {
  asked = next
  for (const watcher of watchers) watcher()
}

/** However many calls find the session ended at once, there is one dialog, and all of them go on after it. */
export function askToSignInAgain(): Promise<boolean> {
  if (asked) return asked.promise
  let resolve: ((signedIn: boolean) => void) | undefined
  const promise = new Promise<boolean>((settle) => {
    resolve = settle
  })
  const answer = (signedIn: boolean) => {
    become(undefined)
    resolve?.(signedIn)
  }
  become({ promise, answer })
  return promise
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** Lies over the page, which stays as it is: what was typed there is sent again by the same call. */
export function SessionEnded() {
  const question = useSyncExternalStore(watch, () => asked)
  return (
    <Modal
      opened={question !== undefined}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session has ended"
      zIndex={400}
    >
      {question && <SignInAgain answer={question.answer} />}
    </Modal>
  )
}

function SignInAgain({ answer }: { answer: (signedIn: boolean) => void }) {
  const known = lastEmail()
  const form = useForm({
    initial: { email: known ?? '', password: '' },
    save: ({ email, password }) => signIn(email, password),
    onSaved: (session) => {
      keepSession(session)
      answer(true)
    },
  })
  return (
    <>
      <Text mb="md">Sign in to go on; nothing you typed is lost.</Text>
      <Form form={form} submit="Sign in" guard={false}>
        {/* Only the same person may go on: what is on the page is theirs. */}
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          readOnly={known !== undefined}
          {...form.text('email')}
        />
        <PasswordInput label="Password" autoComplete="current-password" data-autofocus {...form.text('password')} />
      </Form>
      <Anchor href={`${import.meta.env.BASE_URL}sign-in`} size="sm" mt="md" display="inline-block">
        Leave this page and sign in as someone else
      </Anchor>
    </>
  )
}
