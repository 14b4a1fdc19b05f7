import { t } from '@lingui/core/macro'
import { Radio, Stack, TextInput } from '@mantine/core'
import { api } from '../../api.ts'
import { translate } from '../../language/translate.ts'
import { FormDialog } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import type { ShownSecret } from '../../parts/secret-once.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { keepSession, useCommunityPath } from '../../session.ts'
import type { Administrator, OneTimeLink, Session } from '../../wire.ts'
import { ROLES } from './roles.ts'
import { shownLink } from './shown-link.ts'

interface InviteProps {
  opened: boolean
  onClose: () => void
  showLink: (secret: ShownSecret) => void
}

export function InviteDialog({ opened, onClose, showLink }: InviteProps) {
  const path = useCommunityPath()
  const form = useForm({
    initial: { name: '', email: '', role: 'manager' },
    save: (values, { key }) => api.post<{ id: number; link: OneTimeLink }>(path('/administrators'), { ...values, key }),
    onSaved: ({ link }, { name }) => {
      form.reset()
      onClose()
      showLink(shownLink('invitation', name, link.url))
      void refresh(path('/invitations'))
    },
  })
  return (
    <FormDialog form={form} title={t`Invite an administrator`} submit={t`Invite`} opened={opened} onClose={onClose}>
      <TextInput label={t`Name`} data-autofocus autoComplete="off" {...form.text('name')} />
      <TextInput label={t`Email`} type="email" autoComplete="off" {...form.text('email')} />
      <RoleChoice {...form.value<string>('role')} />
    </FormDialog>
  )
}

export function RoleDialog({ administrator, onClose }: { administrator: Administrator; onClose: () => void }) {
  const path = useCommunityPath()
  const form = useForm({
    initial: { role: administrator.role as string },
    save: (values) =>
      api.patch(path(`/administrators/${administrator.id}`), values, { version: administrator.version }),
    onSaved: async () => {
      onClose()
      notify(t`Role changed`)
      await refresh(path('/administrators'))
      // It may have been one's own.
      keepSession(await api.get<Session>('/session'))
    },
  })
  return (
    <FormDialog form={form} title={t`Role of ${administrator.name}`} submit={t`Save`} opened onClose={onClose}>
      <RoleChoice {...form.value<string>('role')} />
    </FormDialog>
  )
}

interface ChoiceProps {
  name: string
  error: React.ReactNode
  value: string
  onChange: (role: string) => void
}

function RoleChoice(field: ChoiceProps) {
  return (
    <Radio.Group label={t`Role`} {...field}>
      <Stack gap="sm" mt={6}>
        {ROLES.map(({ value, label, text }) => (
          <Radio key={value} value={value} label={translate(label)} description={translate(text)} />
        ))}
      </Stack>
    </Radio.Group>
  )
}
