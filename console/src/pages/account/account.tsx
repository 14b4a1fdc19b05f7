import { t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { Badge, Button, Stack } from '@mantine/core'
import { Suspense, useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { PlainTable } from '../../parts/data-table.tsx'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { Loading } from '../../parts/loading.tsx'
import { notify } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { refresh, useRead } from '../../reading.ts'
import { signOut, useSession } from '../../session.ts'
import type { OpenSession } from '../../wire.ts'
import { ChangePassword } from '../password/change-password.tsx'
import { deviceOf } from './device.ts'

const LanguageChoice = lazyPart(async () => (await import('./language-choice.tsx')).LanguageChoice)
const SecondFactor = lazyPart(async () => (await import('./second-factor.tsx')).SecondFactor)
const AlertChoices = lazyPart(async () => (await import('./alert-choices.tsx')).AlertChoices)

export function Account() {
  const { name, email } = useSession().admin
  return (
    <>
      <PageHeader title={t`Account`} description={t`${name}, ${email}`} />
      <Stack gap="lg">
        <Sessions />
        <Suspense fallback={<Loading label={t`Account`} height={[224, 240, 640]} />}>
          <LanguageChoice />
          <SecondFactor />
          <AlertChoices />
        </Suspense>
        <Panel title={t`Password`} description={t`Changing it ends all your other sessions.`}>
          <Stack maw="26rem">
            <ChangePassword
              currentLabel={t`Current password`}
              onChanged={() => {
                notify(t`Password changed`)
                void refresh('/sessions')
              }}
            />
          </Stack>
        </Panel>
      </Stack>
    </>
  )
}

function Sessions() {
  const sessions = useRead<OpenSession[]>('/sessions')
  const [asking, setAsking] = useState(false)
  const others = sessions.data?.filter((session) => !session.current).length ?? 0
  return (
    <Panel
      title={t`Sessions`}
      description={t`Where you are signed in. End what you do not recognise, and change your password.`}
      actions={
        others > 0 && (
          <Button variant="default" onClick={() => setAsking(true)}>
            <Trans>Sign out everywhere else</Trans>
          </Button>
        )
      }
    >
      {sessions.isError && <Problem error={sessions.error} again={() => void sessions.refetch()} />}
      {!sessions.data && !sessions.isError && <Loading label={t`Sessions`} height={112} />}
      {sessions.data && <SessionTable sessions={sessions.data} />}
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={t`Sign out everywhere else?`}
        confirm={t`Sign out`}
        action={async () => {
          await api.post('/sessions/end-others')
          await refresh('/sessions')
          notify(t`Signed out everywhere else`)
        }}
      >
        <Plural
          value={others}
          one="Your other session ends at once. This one stays."
          other="Your other # sessions end at once. This one stays."
        />
      </ConfirmDialog>
    </Panel>
  )
}

/** What the button does, where several look alike. */
function endName({ user_agent }: OpenSession): string {
  const device = deviceOf(user_agent)
  return t`End the session on ${device}`
}

function SessionTable({ sessions }: { sessions: OpenSession[] }) {
  const [ending, setEnding] = useState<OpenSession>()
  const device = deviceOf(ending?.user_agent ?? null)
  return (
    <>
      <PlainTable
        label={t`Your sessions`}
        rows={sessions}
        rowKey={(session) => session.id}
        empty={null}
        columns={[
          {
            header: t`Device`,
            cell: (session) => (
              <>
                {deviceOf(session.user_agent)}{' '}
                {session.current && (
                  <Badge>
                    <Trans>This one</Trans>
                  </Badge>
                )}
              </>
            ),
          },
          { header: t`Address`, cell: (session) => session.address ?? t`unknown` },
          { header: t`Signed in`, cell: (session) => <Time value={session.created_at} /> },
          { header: t`Last used`, cell: (session) => <Time value={session.last_seen_at} as="relative" /> },
          {
            header: t`Actions`,
            quiet: true,
            align: 'end',
            cell: (session) => (
              <Button
                variant="default"
                size="compact-sm"
                {...(!session.current && { 'aria-label': endName(session) })}
                onClick={() => (session.current ? void signOut() : setEnding(session))}
              >
                {session.current ? t`Sign out` : t`End`}
              </Button>
            ),
          },
        ]}
      />
      <ConfirmDialog
        opened={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title={t`End the session on ${device}?`}
        confirm={t`End session`}
        action={async () => {
          await api.delete(`/sessions/${ending?.id}`)
          await refresh('/sessions')
          notify(t`Session ended`)
        }}
      >
        <Trans>The person who uses it has to sign in again.</Trans>
      </ConfirmDialog>
    </>
  )
}
