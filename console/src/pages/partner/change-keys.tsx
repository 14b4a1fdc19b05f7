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
      notify('The key is registered')
      void refresh(path('/partners'))
    },
  })
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={`Add a key to ${client.client_id}`}
        onClick={() => setOpened(true)}
      >
        Add key …
      </Button>
      <FormDialog form={form} title="Add a key?" submit="Add key" opened={opened} onClose={() => setOpened(false)}>
        <Text>Both keys work until you remove one. The client id stays the same.</Text>
        <PublicKeyField {...form.text('public_key')} />
      </FormDialog>
    </>
  )
}

function RemoveKey({ client, clientKey: { thumbprint } }: { client: Client; clientKey: ClientKey }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const isLast = client.keys.length === 1
  const remove = async () => {
    await api.delete(path(`/clients/${client.client_id}/keys/${thumbprint}`))
    notify('The key is removed')
    await refresh(path('/partners'))
  }
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={`Remove the key ${thumbprint}`}
        onClick={() => setOpened(true)}
      >
        Remove key {thumbprint.slice(0, 6)} …
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title="Remove this key now?"
        confirm="Remove it now"
        danger
        action={remove}
      >
        {isLast
          ? 'It is the only key: until you add another, these credentials get no new access. Access that was given before lasts up to an hour; revoke the credentials to end that too.'
          : 'From now on only the other key works. Do it once the partner has changed over.'}
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
      notify('The address is replaced')
      void refresh(path('/partners'))
    },
  })
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={`New address for ${client.client_id}`}
        onClick={() => setOpened(true)}
      >
        New address …
      </Button>
      <FormDialog
        form={form}
        title="Replace the address?"
        submit="Replace"
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text>From now on only the keys at the new address work.</Text>
        <JwksUrlField {...form.text('jwks_url')} />
      </FormDialog>
    </>
  )
}
