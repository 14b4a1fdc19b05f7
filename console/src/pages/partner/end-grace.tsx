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
    notify('The old secret has ended')
    await refresh(path('/partners'))
  }
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={`End the old secret of ${client.client_id}`}
        onClick={() => setOpened(true)}
      >
        End old secret …
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title="End the old secret now?"
        confirm="End it now"
        danger
        action={end}
      >
        From now on only the new secret works. Do it once the partner has changed over.
      </ConfirmDialog>
    </>
  )
}
