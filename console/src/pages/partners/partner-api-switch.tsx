import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { FormDialog } from '../../parts/form.tsx'
import { Loading } from '../../parts/loading.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh, useRead } from '../../reading.ts'
import { useCommunityPath, useRole } from '../../session.ts'
import type { PartnerApiState } from '../../wire.ts'

/** One switch for all partners: for an emergency, or while something is being put in order. */
export function PartnerApiSwitch() {
  const path = useCommunityPath()
  const { isOwner } = useRole()
  const { data: state, isError } = useRead<PartnerApiState>(path('/partner-api'))
  if (!state) return isError ? null : <Loading label={t`Access for all partners`} height={136} />
  return (
    <Panel
      title={t`Access for all partners`}
      description={t`One switch for every partner at once. Suspend a single one on its own page.`}
      danger={state.enabled && isOwner}
      actions={isOwner && (state.enabled ? <SwitchOff /> : <SwitchOn />)}
    >
      {state.enabled ? (
        <StatusBadge status="active" label={t`Switched on`} />
      ) : (
        <>
          <StatusBadge status="disabled" label={t`Switched off`} />
          <Text size="sm">
            <Trans>
              Partners are told: <bdi>{state.reason}</bdi>
            </Trans>
          </Text>
        </>
      )}
    </Panel>
  )
}

function SwitchOff() {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const form = useForm({
    initial: { reason: '' },
    check: ({ reason }) => (reason.trim() === '' ? { reason: t`Give a reason: partners see it.` } : {}),
    save: ({ reason }) => api.post(path('/partner-api'), { enabled: false, reason }),
    onSaved: () => {
      setOpened(false)
      notify(t`The partner API is switched off`)
      void refresh(path('/partner-api'))
    },
  })
  return (
    <>
      <Button color="red" variant="outline" onClick={() => setOpened(true)}>
        <Trans>Switch off …</Trans>
      </Button>
      <FormDialog
        form={form}
        title={t`Switch the partner API off?`}
        submit={t`Switch off`}
        danger
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text>
          <Trans>
            Every call of every partner is refused at once, and notifications to partners wait, until you switch it on
            again. Nothing is lost.
          </Trans>
        </Text>
        <Textarea
          label={t`Reason`}
          description={t`Partners see it as you write it.`}
          data-autofocus
          autosize
          minRows={2}
          {...form.text('reason')}
        />
      </FormDialog>
    </>
  )
}

function SwitchOn() {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const switchOn = async () => {
    await api.post(path('/partner-api'), { enabled: true })
    notify(t`The partner API is switched on`)
    await refresh(path('/partner-api'))
  }
  return (
    <>
      <Button onClick={() => setOpened(true)}>
        <Trans>Switch on …</Trans>
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={t`Switch the partner API on again?`}
        confirm={t`Switch on`}
        action={switchOn}
      >
        <Trans>All partners that are not suspended can call again, and waiting notifications are sent.</Trans>
      </ConfirmDialog>
    </>
  )
}
