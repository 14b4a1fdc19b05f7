import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Loader, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api.ts'
import { FormDialog } from '../../parts/form.tsx'
import { Panel } from '../../parts/panel.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { useForm } from '../../parts/use-form.ts'
import { useCommunityPath } from '../../session.ts'
import { queryClient, sessionQuery } from '../../session.ts'
import { shownCredentials } from './credentials.ts'
import type { TestCommunity } from '../../wire.ts'

/** A community with invented people, on which a new partner can try everything without harm. */
export function TestCommunities() {
  const path = useCommunityPath()
  const navigate = useNavigate()
  const [opened, setOpened] = useState(false)
  const [made, setMade] = useState<TestCommunity>()
  const form = useForm({
    initial: { name: '' },
    check: ({ name }) => (name.trim() === '' ? { name: t`Give it a name.` } : {}),
    save: (values, { key }) => api.post<TestCommunity>(path('/test-communities'), { ...values, key }),
    onSaved: (community) => {
      setOpened(false)
      setMade(community)
      // The session lists the communities that one may open.
      void queryClient.refetchQueries({ queryKey: sessionQuery.queryKey })
    },
  })
  const close = () => {
    const slug = made?.slug ?? ''
    setMade(undefined)
    void navigate({ to: '/$slug/overview', params: { slug } })
  }
  return (
    <Panel
      title={t`Test community`}
      description={t`For a new partner: a community of its own with invented members, listings and exchanges, where nothing real can be harmed. You can remove it in its settings.`}
      actions={
        <Button variant="default" onClick={() => setOpened(true)}>
          <Trans>Make a test community …</Trans>
        </Button>
      }
    >
      <FormDialog
        form={form}
        title={t`Make a test community`}
        submit={t`Make it`}
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <TextInput
          label={t`Name`}
          description={t`So that you can tell it from others: the partner’s name, for example.`}
          data-autofocus
          {...form.text('name')}
        />
        <div role="status">
          {form.busy && (
            <Group gap="sm">
              <Loader size="sm" />
              <Text size="sm">
                <Trans>Inventing 250 members, 300 listings and 2,000 exchanges. This takes a few seconds …</Trans>
              </Text>
            </Group>
          )}
        </div>
      </FormDialog>
      <SecretOnce secret={made && shownCredentials(t`Credentials of ${made.name}`, made)} onClose={close} />
    </Panel>
  )
}
