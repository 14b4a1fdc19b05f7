import { PasswordInput, Text } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { api } from '../../api.ts'
import { PlainPage } from '../../layout/plain-page.tsx'
import { Form } from '../../parts/form.tsx'
import { Time } from '../../parts/time.tsx'
import { useForm } from '../../parts/use-form.ts'
import { beginSession } from '../../session.ts'
import type { LinkState, Session } from '../../wire.ts'

interface Props {
  token: string
  link: Pick<LinkState, 'email' | 'expires_at'>
}

export function ResetPassword({ token, link }: Props) {
  const router = useRouter()
  const form = useForm({
    initial: { password: '' },
    save: ({ password }) => api.post<Session>('/links/use', { token, password }, { signedOut: true }),
    onSaved: (session) => {
      beginSession(session)
      router.history.replace(import.meta.env.BASE_URL)
    },
  })
  return (
    <PlainPage title="Choose a new password" description="It ends all your sessions elsewhere.">
      <Text size="sm" c="dimmed">
        For {link.email}. The link is valid until <Time value={link.expires_at} />.
      </Text>
      <Form form={form} submit="Save password" guard={false}>
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
