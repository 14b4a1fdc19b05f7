import { plural, select, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { formatList } from '../../language/formats.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Loading } from '../../parts/loading.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { Time } from '../../parts/time.tsx'
import { refresh, useRead } from '../../reading.ts'
import { useSession } from '../../session.ts'
import type { RecoveryCodes as NewCodes, SecondFactor as Factor } from '../../wire.ts'
import { Passkeys } from './passkeys.tsx'
import { SetUpApp } from './set-up-app.tsx'

const FEW_CODES = 3

const readAgain = () => refresh('/session', '/second-factor', '/sessions')

export function SecondFactor() {
  const factor = useRead<Factor>('/second-factor')
  const [codes, setCodes] = useState<string[]>()
  const show = ({ recovery_codes }: NewCodes) => {
    void readAgain()
    if (recovery_codes.length > 0) setCodes(recovery_codes)
  }
  return (
    <Panel
      title={t`Second factor`}
      description={t`With it, a stolen password is not enough to sign in. Changing it ends all your other sessions.`}
    >
      {factor.isError && <Problem error={factor.error} again={() => void factor.refetch()} />}
      {!factor.data && !factor.isError && <Loading label={t`Second factor`} height={96} />}
      {factor.data && (
        <Stack>
          <RequiredBy />
          <Passkeys
            passkeys={factor.data.passkeys}
            hasApp={factor.data.app !== null}
            onAdded={show}
            onRemoved={readAgain}
          />
          <App app={factor.data.app} isOnly={factor.data.passkeys.length === 0} onSetUp={show} />
          {(factor.data.app || factor.data.passkeys.length > 0) && (
            <RecoveryCodes left={factor.data.recovery_codes_left} onMade={show} />
          )}
        </Stack>
      )}
      <SecretOnce
        secret={
          codes && {
            title: t`Recovery codes`,
            intro: t`Each signs you in once if you lose your device. They are shown only now: keep them in a safe place.`,
            items: [{ label: t`Recovery codes`, value: codes.join('\n') }],
            fileName: 'hourbank-recovery-codes.txt',
          }
        }
        onClose={() => setCodes(undefined)}
      />
    </Panel>
  )
}

/** Why someone who wanted to go elsewhere is on this page. */
function RequiredBy() {
  const { communities, second_factor: hasOne } = useSession()
  const names = communities.filter((one) => one.second_factor_required).map(({ name }) => name)
  if (hasOne || names.length === 0) return null
  const list = formatList(names)
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warning" />}>
      {select(names.length === 1 ? 'one' : 'several', {
        one: `${list} requires a second factor. Set one up to go on.`,
        other: `${list} require a second factor. Set one up to go on.`,
      })}
    </Alert>
  )
}

interface AppProps {
  app: Factor['app']
  /** Whether there is no other second factor. */
  isOnly: boolean
  onSetUp: (codes: NewCodes) => void
}

function App({ app, isOnly, onSetUp }: AppProps) {
  const [asking, setAsking] = useState(false)
  return (
    <Group justify="space-between">
      <Text>
        {app ? (
          <Trans>
            Authenticator app <Badge color="green">On</Badge> since <Time value={app.active_since} />
          </Trans>
        ) : (
          <Trans>
            Authenticator app <Badge color="gray">Off</Badge>
          </Trans>
        )}
      </Text>
      {app ? (
        <Button variant="default" onClick={() => setAsking(true)}>
          <Trans>Remove …</Trans>
        </Button>
      ) : (
        <SetUpApp onSetUp={onSetUp} />
      )}
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={t`Remove the authenticator app?`}
        confirm={t`Remove`}
        danger
        action={async () => {
          await api.delete('/second-factor/app')
          await readAgain()
          notify(t`Authenticator app removed`)
        }}
      >
        {isOnly
          ? t`Your password alone will be enough to sign in. Your recovery codes stop working.`
          : t`Its codes no longer sign you in. Your passkeys still do.`}
      </ConfirmDialog>
    </Group>
  )
}

function RecoveryCodes({ left, onMade }: { left: number; onMade: (codes: NewCodes) => void }) {
  const [asking, setAsking] = useState(false)
  return (
    <Group justify="space-between">
      <Text>
        <Trans>Recovery codes</Trans>{' '}
        <Badge {...(left <= FEW_CODES ? { color: 'red' } : {})}>
          {plural(left, { one: '# left', other: '# left' })}
        </Badge>
      </Text>
      <Button variant="default" onClick={() => setAsking(true)}>
        <Trans>Make new codes …</Trans>
      </Button>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={t`Make new recovery codes?`}
        confirm={t`Make new codes`}
        action={async () => onMade(await api.post<NewCodes>('/second-factor/recovery-codes'))}
      >
        <Trans>The codes you have now stop working.</Trans>
      </ConfirmDialog>
    </Group>
  )
}
