import { t } from '@lingui/core/macro'
import { PasswordInput } from '@mantine/core'
import { api } from '../../api.ts'
import { Form } from '../../parts/form.tsx'
import { useForm } from '../../parts/use-form.ts'
import { keepSession } from '../../session.ts'
import type { Session } from '../../wire.ts'

/** Used where a one-time password must be replaced, and in the account. */
export function ChangePassword({ currentLabel, onChanged }: { currentLabel: string; onChanged: () => void }) {
  const initial = { current_password: '', new_password: '' }
  const form = useForm({
    initial,
    save: (values) => api.post<Session>('/password', values),
    onSaved: (session) => {
      keepSession(session)
      form.replace(initial)
      onChanged()
    },
  })
  return (
    <Form form={form} submit={t`Change password`} guard={false}>
      <PasswordInput label={currentLabel} autoComplete="current-password" {...form.text('current_password')} />
      <PasswordInput
        label={t`New password`}
        description={t`At least 12 characters.`}
        autoComplete="new-password"
        {...form.text('new_password')}
      />
    </Form>
  )
}
