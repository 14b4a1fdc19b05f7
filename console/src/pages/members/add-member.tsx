import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, List, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { ApiError, api } from '../../api.ts'
import { isolate } from '../../language/isolate.ts'
import { formatDay } from '../../parts/day.ts'
import { useFilters } from '../../parts/filter-bar.tsx'
import { FormDialog } from '../../parts/form.tsx'
import { Icon } from '../../parts/icons.tsx'
import { LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { notify } from '../../parts/notices.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh, useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import { MemberFields, type MemberValues, valuesOf } from './member-fields.tsx'
import { MemberStatus } from './member-status.tsx'
import type { ListedMember, OfficeMember } from '../../wire.ts'

const TYPING_PAUSE_MS = 300

export function AddMember() {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const navigate = useNavigate()
  const [{ add }, setFilters] = useFilters<{ add?: string }>()
  const [isOpened, setOpened] = useState(false)
  // Ctrl-K leads here with the form open.
  const opened = isOpened || add !== undefined
  const close = () => {
    setOpened(false)
    setFilters({ add: undefined })
  }
  // The name of which somebody has looked at those who have it.
  const confirmed = useRef<string>(undefined)
  const form = useForm<MemberValues, OfficeMember>({
    initial: valuesOf(),
    save: (values, { key }) =>
      api.post<OfficeMember>(path('/members'), {
        ...values,
        confirm_duplicate: confirmed.current === values.name,
        key,
      }),
    onSaved: (member) => {
      confirmed.current = undefined
      close()
      notify(t`${member.name} added`)
      void refresh(path('/members'))
      void navigate({ to: '/$slug/members/$id', params: { slug, id: String(member.id) } })
    },
  })
  return (
    <>
      <Button onClick={() => setOpened(true)}>
        <Trans>Add member</Trans>
      </Button>
      <FormDialog form={form} title={t`Add a member`} submit={t`Add member`} opened={opened} onClose={close}>
        {isAboutDuplicate(form.failure) && (
          <SameName
            name={form.values.name}
            confirm={() => {
              confirmed.current = form.values.name
              void form.submit()
            }}
          />
        )}
        <MemberFields form={form} />
      </FormDialog>
    </>
  )
}

function isAboutDuplicate(error: unknown): boolean {
  return error instanceof ApiError && error.fieldErrors.some(({ code }) => code === 'duplicate')
}

function lastExchange({ last_exchange_on, last_active_on }: ListedMember): string {
  // Without an exchange, the last active day is the one of joining.
  const day = formatDay(last_exchange_on ?? last_active_on)
  return last_exchange_on ? t`last exchange ${day}` : t`joined ${day}`
}

function SameName({ name, confirm }: { name: string; confirm: () => void }) {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const [asked] = useDebouncedValue(name.trim(), TYPING_PAUSE_MS)
  const same = useRead<ListedMember[]>(path('/members'), { name: asked, limit: 5 })
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warning" />} title={t`Is this the same person?`}>
      <Stack gap="sm" align="flex-start">
        <List size="sm">
          {(same.data ?? []).map((member) => (
            <List.Item key={member.id}>
              <LinkText to="/$slug/members/$id" params={{ slug, id: String(member.id) }} target="_blank">
                <Name>{member.name}</Name>
              </LinkText>
              {[member.external_id, member.phone, member.email].flatMap((text) => (text ? ` · ${isolate(text)}` : []))}
              {` · ${lastExchange(member)} `}
              {member.status === 'inactive' && <MemberStatus member={member} />}
            </List.Item>
          ))}
        </List>
        <Text size="sm">
          <Trans>Nobody is added yet. Open the member who is there, or add another one of this name.</Trans>
        </Text>
        <Button variant="default" onClick={confirm}>
          <Trans>Add anyway</Trans>
        </Button>
      </Stack>
    </Alert>
  )
}
