import { Button, Group, Skeleton } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { type Column, PlainTable } from '../../parts/data-table.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { SecretOnce, type ShownSecret } from '../../parts/secret-once.tsx'
import { Time } from '../../parts/time.tsx'
import { refresh, useRead } from '../../reading.ts'
import { useCommunityPath, useRole, useSession } from '../../session.ts'
import { InviteDialog, RoleDialog } from './administrator-dialogs.tsx'
import { Invitations } from './invitations.tsx'
import { shownLink } from './shown-link.ts'
import { roleName } from './roles.ts'
import type { Administrator, OneTimeLink } from '../../wire.ts'

/** Who runs the community. */
export function Administrators() {
  const { isOwner } = useRole()
  const path = useCommunityPath()
  const { data, isError, error, refetch } = useRead<Administrator[]>(path('/administrators'))
  const [inviting, setInviting] = useState(false)
  const [secret, setSecret] = useState<ShownSecret>()
  return (
    <Panel
      title="Administrators"
      description="Who may use this console for this community, and for what."
      actions={isOwner && <Button onClick={() => setInviting(true)}>Invite</Button>}
    >
      {isError && !data && <Problem error={error} again={() => void refetch()} />}
      {!data && !isError && <Skeleton height={200} />}
      {data && <AdministratorTable administrators={data} isOwner={isOwner} showLink={setSecret} />}
      <Invitations isOwner={isOwner} showLink={setSecret} />
      <InviteDialog opened={inviting} onClose={() => setInviting(false)} showLink={setSecret} />
      <SecretOnce secret={secret} onClose={() => setSecret(undefined)} />
    </Panel>
  )
}

type Act = 'role' | 'reset' | 'remove'

interface TableProps {
  administrators: Administrator[]
  isOwner: boolean
  showLink: (secret: ShownSecret) => void
}

const SECOND_FACTOR: Column<Administrator> = {
  header: 'Second factor',
  cell: ({ second_factor }) => (second_factor ? 'yes' : 'none yet'),
}

function AdministratorTable({ administrators, isOwner, showLink }: TableProps) {
  const [asking, setAsking] = useState<{ act: Act; admin: Administrator }>()
  const close = () => setAsking(undefined)
  const { admin: self } = useSession()
  const columns: Column<Administrator>[] = [
    { header: 'Name', cell: ({ id, name }) => (id === self.id ? `${name} (you)` : name) },
    { header: 'Email', cell: ({ email }) => email },
    { header: 'Role', cell: ({ role }) => roleName(role) },
    // Known only where the community requires it.
    ...(administrators.some(({ second_factor }) => second_factor !== null) ? [SECOND_FACTOR] : []),
    {
      header: 'Last seen here',
      cell: ({ last_seen_at }) => (last_seen_at ? <Time value={last_seen_at} as="relative" /> : 'never'),
    },
  ]
  const actions: Column<Administrator> = {
    header: 'Actions',
    quiet: true,
    align: 'end',
    cell: (admin) => <Actions administrator={admin} ask={(act) => setAsking({ act, admin })} />,
  }
  return (
    <>
      <PlainTable
        label="Administrators"
        rows={administrators}
        rowKey={({ id }) => id}
        empty={null}
        columns={isOwner ? [...columns, actions] : columns}
      />
      {asking?.act === 'role' && <RoleDialog key={asking.admin.id} administrator={asking.admin} onClose={close} />}
      <Reset administrator={asking?.act === 'reset' ? asking.admin : undefined} onClose={close} showLink={showLink} />
      <Remove administrator={asking?.act === 'remove' ? asking.admin : undefined} onClose={close} />
    </>
  )
}

function Actions({ administrator, ask }: { administrator: Administrator; ask: (act: Act) => void }) {
  const of = `of ${administrator.name}`
  return (
    <Group gap="xs" justify="flex-end">
      <Button variant="default" size="compact-sm" aria-label={`Change the role ${of}`} onClick={() => ask('role')}>
        Role
      </Button>
      <Button variant="default" size="compact-sm" aria-label={`New password ${of}`} onClick={() => ask('reset')}>
        New password
      </Button>
      <Button
        variant="light"
        color="red"
        size="compact-sm"
        aria-label={`Remove ${administrator.name}`}
        onClick={() => ask('remove')}
      >
        Remove
      </Button>
    </Group>
  )
}

interface AskProps {
  administrator: Administrator | undefined
  onClose: () => void
}

function Reset({ administrator, onClose, showLink }: AskProps & { showLink: (secret: ShownSecret) => void }) {
  const path = useCommunityPath()
  return (
    <ConfirmDialog
      opened={administrator !== undefined}
      onClose={onClose}
      title={`A new password for ${administrator?.name}?`}
      confirm="Make the link"
      action={async () => {
        const link = await api.post<OneTimeLink>(path(`/administrators/${administrator?.id}/reset-link`))
        showLink(shownLink('reset', administrator?.name ?? '', link.url))
      }}
    >
      You get a link to hand to {administrator?.name}, who chooses a new password with it. Until then the old password
      works. The link works once, within a day.
    </ConfirmDialog>
  )
}

function Remove({ administrator, onClose }: AskProps) {
  const path = useCommunityPath()
  return (
    <ConfirmDialog
      opened={administrator !== undefined}
      onClose={onClose}
      title={`Remove ${administrator?.name}?`}
      confirm="Remove"
      danger
      action={async () => {
        await api.delete(path(`/administrators/${administrator?.id}`))
        notify('Administrator removed')
        await refresh(path('/administrators'))
      }}
    >
      {administrator?.name} loses access to this community at once. What they did stays in the audit log. You can invite
      them again.
    </ConfirmDialog>
  )
}
