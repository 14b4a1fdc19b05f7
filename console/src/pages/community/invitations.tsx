import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Title } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { type Column, PlainTable } from '../../parts/data-table.tsx'
import { notify } from '../../parts/notices.tsx'
import { Problem } from '../../parts/problem.tsx'
import type { ShownSecret } from '../../parts/secret-once.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { refresh, useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { Invitation, OneTimeLink } from '../../wire.ts'
import { roleName } from './roles.ts'
import { shownLink } from './shown-link.ts'

interface Props {
  isOwner: boolean
  showLink: (secret: ShownSecret) => void
}

type Act = 'renew' | 'withdraw'

/** Roles that nobody has accepted yet; nothing is shown if there is none. */
export function Invitations({ isOwner, showLink }: Props) {
  const path = useCommunityPath()
  const { data, isError, error, refetch } = useRead<Invitation[]>(path('/invitations'))
  const [asking, setAsking] = useState<{ act: Act; invitation: Invitation }>()
  const close = () => setAsking(undefined)
  if (isError && !data) return <Problem error={error} again={() => void refetch()} />
  if (!data || data.length === 0) return null
  const actions: Column<Invitation> = {
    header: t`Actions`,
    quiet: true,
    align: 'end',
    cell: (invitation) => <Actions invitation={invitation} ask={(act) => setAsking({ act, invitation })} />,
  }
  return (
    <>
      <Title order={3} size="h4" mt="lg" mb="xs">
        <Trans>Invitations</Trans>
      </Title>
      <PlainTable
        label={t`Invitations`}
        rows={data}
        rowKey={({ id }) => id}
        empty={null}
        columns={isOwner ? [...commonColumns(), actions] : commonColumns()}
      />
      <Renew invitation={asking?.act === 'renew' ? asking.invitation : undefined} onClose={close} showLink={showLink} />
      <Withdraw invitation={asking?.act === 'withdraw' ? asking.invitation : undefined} onClose={close} />
    </>
  )
}

const commonColumns = (): Column<Invitation>[] => [
  { header: t`Name`, cell: ({ name }) => name },
  { header: t`Email`, cell: ({ email }) => email },
  { header: t`Role`, cell: ({ role }) => roleName(role) },
  {
    header: t`Valid until`,
    cell: ({ expires_at }) =>
      Date.parse(expires_at) > Date.now() ? <Time value={expires_at} /> : <StatusBadge status="expired" />,
  },
]

function Actions({ invitation, ask }: { invitation: Invitation; ask: (act: Act) => void }) {
  return (
    <Group gap="xs" justify="flex-end">
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t`New link for ${invitation.name}`}
        onClick={() => ask('renew')}
      >
        <Trans>New link</Trans>
      </Button>
      <Button
        variant="outline"
        color="red"
        size="compact-sm"
        aria-label={t`Withdraw the invitation of ${invitation.name}`}
        onClick={() => ask('withdraw')}
      >
        <Trans>Withdraw</Trans>
      </Button>
    </Group>
  )
}

interface AskProps {
  invitation: Invitation | undefined
  onClose: () => void
}

function Renew({ invitation, onClose, showLink }: AskProps & { showLink: (secret: ShownSecret) => void }) {
  const path = useCommunityPath()
  const name = invitation?.name ?? ''
  return (
    <ConfirmDialog
      opened={invitation !== undefined}
      onClose={onClose}
      title={t`A new link for ${name}?`}
      confirm={t`Make the link`}
      action={async () => {
        const renewed = await api.post<{ link: OneTimeLink }>(path(`/invitations/${invitation?.id}/renew`))
        showLink(shownLink('invitation', name, renewed.link.url))
        await refresh(path('/invitations'))
      }}
    >
      <Trans>
        The link that <bdi>{name}</bdi> has stops working. The new one works once, within seven days.
      </Trans>
    </ConfirmDialog>
  )
}

function Withdraw({ invitation, onClose }: AskProps) {
  const path = useCommunityPath()
  const name = invitation?.name ?? ''
  return (
    <ConfirmDialog
      opened={invitation !== undefined}
      onClose={onClose}
      title={t`Withdraw the invitation of ${name}?`}
      confirm={t`Withdraw`}
      danger
      action={async () => {
        await api.delete(path(`/invitations/${invitation?.id}`))
        notify(t`Invitation withdrawn`)
        await refresh(path('/invitations'))
      }}
    >
      <Trans>
        The link that <bdi>{name}</bdi> has stops working. You can invite them again.
      </Trans>
    </ConfirmDialog>
  )
}
