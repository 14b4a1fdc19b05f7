import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { refresh } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import type { PartnerDetail } from '../../wire.ts'

/** For a partner added by mistake. One that was used keeps its record. */
export function DeletePartner({ partner }: { partner: PartnerDetail }) {
  const path = useCommunityPath()
  const { slug } = useCommunity()
  const navigate = useNavigate()
  const [opened, setOpened] = useState(false)
  const remove = async () => {
    await api.delete(path(`/partners/${partner.id}`))
    notify(t`${partner.name} is deleted`)
    await navigate({ to: '/$slug/partners', params: { slug } })
    await refresh(path('/partners'))
  }
  return (
    <Panel
      title={t`Delete`}
      description={t`This partner has never used its credentials, so it can be deleted.`}
      danger
      actions={
        <Button color="red" variant="outline" onClick={() => setOpened(true)}>
          <Trans>Delete …</Trans>
        </Button>
      }
    >
      <ConfirmDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={t`Delete ${partner.name}?`}
        confirm={t`Delete`}
        danger
        action={remove}
      >
        <Trans>The partner and its credentials are removed for good. The audit log keeps a note of it.</Trans>
      </ConfirmDialog>
    </Panel>
  )
}
