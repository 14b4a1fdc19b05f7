import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { Client } from '../../wire.ts'

export function EndGrace({ client }: { client: Client }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const end = async () => {
    await api.post(path(`/clients/${client.client_id}/end-grace`))
    notify(t`The old secret has ended`)
    await refresh(path('/partners'))
  }
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t`End the old secret of ${client.client_id}`}
        onClick={() => setOpened(true)}
      >
        <Trans>End old secret …</Trans>
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={t`End the old secret now?`}
        confirm={t`End it now`}
        danger
        action={end}
      >
        <Trans>From now on only the new secret works. Do it once the partner has changed over.</Trans>
      </ConfirmDialog>
    </>
  )
}
