import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { type Column, PlainTable } from '../../parts/data-table.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Loading } from '../../parts/loading.tsx'
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
      title={t`Administrators`}
      description={t`Who may use this console for this community, and for what.`}
      actions={
        isOwner && (
          <Button onClick={() => setInviting(true)}>
            <Trans>Invite</Trans>
          </Button>
        )
      }
    >
      {isError && !data && <Problem error={error} again={() => void refetch()} />}
      {!data && !isError && <Loading label={t`Administrators`} height={200} />}
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

const secondFactor = (): Column<Administrator> => ({
  header: t`Second factor`,
  cell: ({ second_factor }) => (second_factor ? t`yes` : t`none yet`),
})

function AdministratorTable({ administrators, isOwner, showLink }: TableProps) {
  const [asking, setAsking] = useState<{ act: Act; admin: Administrator }>()
  const close = () => setAsking(undefined)
  const { admin: self } = useSession()
  const columns: Column<Administrator>[] = [
    { header: t`Name`, cell: ({ id, name }) => (id === self.id ? t`${name} (you)` : name) },
    { header: t`Email`, whole: true, cell: ({ email }) => email },
    { header: t`Role`, whole: true, cell: ({ role }) => roleName(role) },
    // Known only where the community requires it.
    ...(administrators.some(({ second_factor }) => second_factor !== null) ? [secondFactor()] : []),
    {
      header: t`Last seen here`,
      cell: ({ last_seen_at }) => (last_seen_at ? <Time value={last_seen_at} as="relative" /> : t`never`),
    },
  ]
  const actions: Column<Administrator> = {
    header: t`Actions`,
    quiet: true,
    align: 'end',
    cell: (admin) => <Actions administrator={admin} ask={(act) => setAsking({ act, admin })} />,
  }
  return (
    <>
      <PlainTable
        label={t`Administrators`}
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
  const { name } = administrator
  const { owns_every_community: mayReset } = useSession()
  return (
    <Group gap="xs" justify="flex-end">
      <Button variant="default" size="compact-sm" aria-label={t`Change role of ${name}`} onClick={() => ask('role')}>
        <Trans>Change role</Trans>
      </Button>
      {/* A password opens all communities of a person. */}
      {mayReset && (
        <Button
          variant="default"
          size="compact-sm"
          aria-label={t`Reset password of ${name}`}
          onClick={() => ask('reset')}
        >
          <Trans>Reset password</Trans>
        </Button>
      )}
      <Button
        variant="outline"
        color="red"
        size="compact-sm"
        aria-label={t`Remove ${name}`}
        onClick={() => ask('remove')}
      >
        <Trans>Remove</Trans>
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
  const name = administrator?.name ?? ''
  return (
    <ConfirmDialog
      opened={administrator !== undefined}
      onClose={onClose}
      title={t`Reset the password of ${name}?`}
      confirm={t`Make the link`}
      action={async () => {
        const link = await api.post<OneTimeLink>(path(`/administrators/${administrator?.id}/reset-link`))
        showLink(shownLink('reset', name, link.url))
      }}
    >
      <Trans>
        You get a link to hand to <bdi>{name}</bdi>, who chooses a new password with it. Until then the old password
        works. The link works once, within a day.
      </Trans>
    </ConfirmDialog>
  )
}

function Remove({ administrator, onClose }: AskProps) {
  const path = useCommunityPath()
  const { admin: self } = useSession()
  const name = administrator?.name ?? ''
  return (
    <ConfirmDialog
      opened={administrator !== undefined}
      onClose={onClose}
      title={t`Remove ${name}?`}
      confirm={t`Remove`}
      danger
      action={async () => {
        await api.delete(path(`/administrators/${administrator?.id}`))
        // No page of this community can be shown any more: the console starts again without it.
        if (administrator?.id === self.id) return window.location.assign(import.meta.env.BASE_URL)
        notify(t`Administrator removed`)
        await refresh(path('/administrators'))
      }}
    >
      <Trans>
        <bdi>{name}</bdi> loses access to this community at once. What they did stays in the audit log. You can invite
        them again.
      </Trans>
    </ConfirmDialog>
  )
}
