import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { FormDialog } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { JwksUrlField, PublicKeyField } from '../partners/key-fields.tsx'
import { BY_SECRET, checkKeys } from '../partners/key-values.ts'
import type { Client, ClientKey } from '../../wire.ts'

/** The current key and the next one. */
const KEYS_MAX = 2

/** How a key is replaced: the next one is added, the partner changes over, the old one is removed. */
export function ChangeKeys({ client }: { client: Client }) {
  if (client.authentication === 'jwks') return <ReplaceAddress client={client} />
  return (
    <>
      {client.keys.length < KEYS_MAX && <AddKey client={client} />}
      {client.keys.map((key) => (
        <RemoveKey key={key.thumbprint} client={client} clientKey={key} />
      ))}
    </>
  )
}

function AddKey({ client }: { client: Client }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const form = useForm({
    initial: { ...BY_SECRET, authentication: 'keys' },
    check: checkKeys,
    save: ({ public_key }) => api.post(path(`/clients/${client.client_id}/keys`), { public_key }),
    onSaved: () => {
      setOpened(false)
      notify(t`The key is registered`)
      void refresh(path('/partners'))
    },
  })
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t`Add a key to ${client.client_id}`}
        onClick={() => setOpened(true)}
      >
        <Trans>Add key …</Trans>
      </Button>
      <FormDialog
        form={form}
        title={t`Add a key?`}
        submit={t`Add key`}
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text>
          <Trans>Both keys work until you remove one. The client id stays the same.</Trans>
        </Text>
        <PublicKeyField {...form.text('public_key')} />
      </FormDialog>
    </>
  )
}

function RemoveKey({ client, clientKey: { thumbprint } }: { client: Client; clientKey: ClientKey }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const start = thumbprint.slice(0, 6)
  const isLast = client.keys.length === 1
  const remove = async () => {
    await api.delete(path(`/clients/${client.client_id}/keys/${thumbprint}`))
    notify(t`The key is removed`)
    await refresh(path('/partners'))
  }
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t`Remove the key ${thumbprint}`}
        onClick={() => setOpened(true)}
      >
        <Trans>Remove key {start} …</Trans>
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={t`Remove this key now?`}
        confirm={t`Remove it now`}
        danger
        action={remove}
      >
        {isLast
          ? t`It is the only key: until you add another, these credentials get no new access. Access that was given before lasts up to an hour; revoke the credentials to end that too.`
          : t`From now on only the other key works. Do it once the partner has changed over.`}
      </ConfirmDialog>
    </>
  )
}

function ReplaceAddress({ client }: { client: Client }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const form = useForm({
    initial: { ...BY_SECRET, authentication: 'jwks', jwks_url: client.jwks_url ?? '' },
    check: checkKeys,
    save: ({ jwks_url }) => api.post(path(`/clients/${client.client_id}/jwks-url`), { jwks_url: jwks_url.trim() }),
    onSaved: () => {
      setOpened(false)
      notify(t`The address is replaced`)
      void refresh(path('/partners'))
    },
  })
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t`New address for ${client.client_id}`}
        onClick={() => setOpened(true)}
      >
        <Trans>New address …</Trans>
      </Button>
      <FormDialog
        form={form}
        title={t`Replace the address?`}
        submit={t`Replace`}
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text>
          <Trans>From now on only the keys at the new address work.</Trans>
        </Text>
        <JwksUrlField {...form.text('jwks_url')} />
      </FormDialog>
    </>
  )
}
