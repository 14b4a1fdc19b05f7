import { Button } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { Client, PartnerDetail } from '../../wire.ts'

export function RevokeClient({ client, partner }: { client: Client; partner: PartnerDetail }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const revoke = async () => {
    await api.post(path(`/clients/${client.client_id}/revoke`))
    notify('The credentials are revoked')
    await refresh(path('/partners'))
  }
  return (
    <>
      <Button
        variant="subtle"
        color="red"
        size="compact-sm"
        aria-label={`Revoke ${client.client_id}`}
        onClick={() => setOpened(true)}
      >
        Revoke …
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title="Revoke these credentials?"
        confirm="Revoke for good"
        danger
        typed={partner.name}
        action={revoke}
      >
        {client.name || client.client_id} stops working at once, and never works again. Webhook subscriptions made with
        it get nothing any more. To take access away for a while, suspend the partner instead.
      </ConfirmDialog>
    </>
  )
}
