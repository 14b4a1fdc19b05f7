import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Code, Group, Stack, Text } from '@mantine/core'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Drawer } from '../../parts/dialog.tsx'
import { formatDuration } from '../../parts/duration.ts'
import { Facts } from '../../parts/facts.tsx'
import { LinkText } from '../../parts/links.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
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
      <CallFacts call={call} />
    </Stack>
  )
}

function CallFacts({ call }: { call: CallDetail }) {
  const { slug } = useCommunity()
  const { partner_id, partner_name, client_id, client_name, address, user_agent } = call
  return (
    <Facts
      facts={[
        [t`Answer`, <CallStatus key="answer" status={call.status} />],
        [t`When`, <Time key="when" value={call.at} as="second" focusable />],
        [
          t`Partner`,
          partner_id === null ? (
            t`unknown: the call did not prove who it came from`
          ) : (
            <LinkText key="partner" to="/$slug/partners/$id" params={{ slug, id: String(partner_id) }}>
              <Name>{partner_name ?? t`Partner ${partner_id}`}</Name>
            </LinkText>
          ),
        ],
        [
          t`Credentials`,
          client_id && (
            <>
              {client_name && <Name>{client_name}</Name>} <Code>{client_id}</Code>
            </>
          ),
        ],
        [t`Took`, formatDuration(call.duration_ms)],
        [t`From address`, address && ltr(address)],
        [t`Program`, user_agent && ltr(user_agent)],
        [
          t`Request id`,
          <Group key="request" gap="sm">
            <Code>{call.request_id}</Code>
            <CopyButton value={call.request_id} what={t`request id`} />
          </Group>,
        ],
      ]}
    />
  )
}

/** Not words: their signs would change places among letters from right to left. */
function ltr(text: string) {
  return <bdi dir="ltr">{text}</bdi>
}
