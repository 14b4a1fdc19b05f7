import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath, useRole } from '../../session.ts'
import type { PartnerDetail } from '../../wire.ts'

function useStatusChange(partner: PartnerDetail) {
  const path = useCommunityPath()
  return async (status: PartnerDetail['status']) => {
    const save = async (next: PartnerDetail['status'], version: string) => {
      const saved = await api.patch<{ version: string }>(path(`/partners/${partner.id}`), { status: next }, { version })
      await refresh(path('/partners'))
      return saved
    }
    const { version } = await save(status, partner.version)
    if (status === 'suspended') notify(t`${partner.name} is suspended`, { undo: () => save('active', version) })
    else notify(t`${partner.name} is active again`)
  }
}

/** Takes all access away, for now. */
export function SuspendPartner({ partner }: { partner: PartnerDetail }) {
  const change = useStatusChange(partner)
  const [{ suspend }, setFilters] = useFilters<{ suspend?: string }>()
  const [isOpened, setOpened] = useState(false)
  // Ctrl-K leads here with the question open.
  const opened = isOpened || suspend !== undefined
  return (
    <Panel
      title={t`Suspend`}
      description={t`Removes all access at once. You can restore it at any time.`}
      danger
      actions={
        <Button color="red" variant="outline" onClick={() => setOpened(true)}>
          <Trans>Suspend …</Trans>
        </Button>
      }
    >
      <ConfirmDialog
        opened={opened}
        onClose={() => {
          setOpened(false)
          setFilters({ suspend: undefined })
        }}
        title={t`Suspend ${partner.name}?`}
        confirm={t`Suspend`}
        danger
        action={() => change('suspended')}
      >
        <Trans>
          Every call is refused from now on, with all of its credentials, and notifications to it wait. What it did so
          far stays. You can resume it later.
        </Trans>
      </ConfirmDialog>
    </Panel>
  )
}

/** Says why nothing works, and gives the access back. */
export function Suspended({ partner }: { partner: PartnerDetail }) {
  const change = useStatusChange(partner)
  const { isOwner } = useRole()
  const [opened, setOpened] = useState(false)
  return (
    <Alert color="yellow" variant="light" role="status" icon={<Icon name="pause" />} title={t`Suspended`}>
      <Group justify="space-between">
        <Text size="sm">
          <Trans>Every call of this partner is refused. Notifications to it wait.</Trans>
        </Text>
        {isOwner && (
          <Button onClick={() => setOpened(true)}>
            <Trans>Resume …</Trans>
          </Button>
        )}
      </Group>
      <ConfirmDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={t`Resume ${partner.name}?`}
        confirm={t`Resume`}
        action={() => change('active')}
      >
        <Trans>It can call again with the credentials it has, and notifications that waited are sent.</Trans>
      </ConfirmDialog>
    </Alert>
  )
}
