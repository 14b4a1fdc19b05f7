import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Code, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Drawer } from '../../parts/dialog.tsx'
import { formatDuration } from '../../parts/duration.ts'
import { LinkText } from '../../parts/links.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import classes from './call-drawer.module.css'
import { CallStatus } from './call-status.tsx'
import type { CallDetail } from '../../wire.ts'
import { errorWords } from './words.ts'

/** One call in detail. The address of the page names it, so that it can be passed on. */
export function CallDrawer({ requestId, onClose }: { requestId: string | undefined; onClose: () => void }) {
  return (
    <Drawer opened={requestId !== undefined} onClose={onClose} title={t`One call`} size="lg">
      {requestId !== undefined && <Detail requestId={requestId} />}
    </Drawer>
  )
}

function Detail({ requestId }: { requestId: string }) {
  const path = useCommunityPath()
  const { data: call, isError, error, refetch } = useRead<CallDetail>(path(`/calls/${requestId}`))
  if (isError) return <Problem error={error} again={() => void refetch()} />
  if (!call) return <Loading label={t`Call`} height={320} />
  return (
    <Stack gap="lg">
      <Code block>
        {call.method} {call.path}
      </Code>
      {call.error && (
        <Stack gap={4}>
          <Text fw={600}>{call.error}</Text>
          {errorWords(call.error) && <Text size="sm">{errorWords(call.error)}</Text>}
          {call.error_description && (
            <Text size="sm" c="dimmed">
              <Trans>The partner was told: {call.error_description}</Trans>
            </Text>
          )}
        </Stack>
      )}
      <Facts call={call} />
    </Stack>
  )
}

function Facts({ call }: { call: CallDetail }) {
  const { slug } = useCommunity()
  const { partner_id, partner_name, client_id, client_name, address, user_agent } = call
  return (
    <dl className={classes.facts}>
      <Fact name={t`Answer`}>
        <CallStatus status={call.status} />
      </Fact>
      <Fact name={t`When`}>
        <Time value={call.at} as="second" focusable />
      </Fact>
      <Fact name={t`Partner`}>
        {partner_id === null ? (
          t`unknown: the call did not prove who it came from`
        ) : (
          <LinkText to="/$slug/partners/$id" params={{ slug, id: String(partner_id) }}>
            <Name>{partner_name ?? t`Partner ${partner_id}`}</Name>
          </LinkText>
        )}
      </Fact>
      {client_id && (
        <Fact name={t`Credentials`}>
          {client_name && <Name>{client_name}</Name>} <Code>{client_id}</Code>
        </Fact>
      )}
      <Fact name={t`Took`}>{formatDuration(call.duration_ms)}</Fact>
      {address && <Fact name={t`From address`}>{ltr(address)}</Fact>}
      {user_agent && <Fact name={t`Program`}>{ltr(user_agent)}</Fact>}
      <Fact name={t`Request id`}>
        <Group gap="sm">
          <Code>{call.request_id}</Code>
          <CopyButton value={call.request_id} what={t`request id`} />
        </Group>
      </Fact>
    </dl>
  )
}

/** Not words: their signs would change places among letters from right to left. */
function ltr(text: string) {
  return <bdi dir="ltr">{text}</bdi>
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
