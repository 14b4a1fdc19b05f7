import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
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
  const name = client.name || client.client_id
  const [opened, setOpened] = useState(false)
  const revoke = async () => {
    await api.post(path(`/clients/${client.client_id}/revoke`))
    notify(t`The credentials are revoked`)
    await refresh(path('/partners'))
  }
  return (
    <>
      <Button
        variant="outline"
        color="red"
        size="compact-sm"
        aria-label={t`Revoke ${client.client_id}`}
        onClick={() => setOpened(true)}
      >
        <Trans>Revoke …</Trans>
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={t`Revoke these credentials?`}
        confirm={t`Revoke for good`}
        danger
        typed={partner.name}
        action={revoke}
      >
        <Trans>
          <bdi>{name}</bdi> stops working at once, and never works again. Webhook subscriptions made with it get nothing
          any more. To block access for a while, suspend the partner instead.
        </Trans>
      </ConfirmDialog>
    </>
  )
}
