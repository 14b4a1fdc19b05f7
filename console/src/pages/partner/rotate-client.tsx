import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { translate } from '../../language/translate.ts'
import { FormDialog } from '../../parts/form.tsx'
import type { ShownSecret } from '../../parts/secret-once.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { shownCredentials } from '../partners/credentials.ts'
import type { Client, Credentials, PartnerDetail } from '../../wire.ts'

const GRACES: readonly { value: string; label: MessageDescriptor; description?: MessageDescriptor }[] = [
  { value: '1h', label: msg`For 1 hour` },
  { value: '24h', label: msg`For 24 hours` },
  { value: '7d', label: msg`For 7 days` },
  {
    value: 'none',
    label: msg`Not at all`,
    description: msg`If the old secret may be in wrong hands. The partner cannot call until it uses the new one.`,
  },
]

interface Props {
  client: Client
  partner: PartnerDetail
  onSecret: (secret: ShownSecret) => void
}

/** A new secret; the old one goes on for as long as the partner needs to change over. */
export function RotateClient({ client, partner, onSecret }: Props) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const form = useForm({
    initial: { grace: '24h' },
    save: (values, { key }) => api.post<Credentials>(path(`/clients/${client.client_id}/rotate`), { ...values, key }),
    onSaved: (credentials) => {
      setOpened(false)
      const secret = shownCredentials(t`New secret of ${partner.name}`, credentials)
      if (secret) onSecret(secret)
      void refresh(path('/partners'))
    },
  })
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t`New secret for ${client.client_id}`}
        onClick={() => setOpened(true)}
      >
        <Trans>New secret …</Trans>
      </Button>
      <FormDialog
        form={form}
        title={t`Make a new secret?`}
        submit={t`Make a new secret`}
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text>
          <Trans>The client id stays the same. The new secret works at once.</Trans>
        </Text>
        <Radio.Group label={t`How long does the old secret still work?`} {...form.value<string>('grace')}>
          <Stack gap="sm" mt="xs">
            {GRACES.map(({ value, label, description }) => (
              <Radio
                key={value}
                value={value}
                label={translate(label)}
                description={description && translate(description)}
              />
            ))}
          </Stack>
        </Radio.Group>
      </FormDialog>
    </>
  )
}
