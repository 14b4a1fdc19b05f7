import { Trans } from '@lingui/react/macro'
import { Badge, Text } from '@mantine/core'
import { lastMomentBefore } from '../../parts/day.ts'
import { Time } from '../../parts/time.tsx'
import type { Client } from '../../wire.ts'

const WARNING_MS = 14 * 24 * 60 * 60 * 1_000

/** When credentials end, with a warning before. */
export function ClientExpiry({ client: { expires_at, status } }: { client: Client }) {
  if (expires_at === null) return null
  const isSoon = status === 'active' && Date.parse(expires_at) - Date.now() < WARNING_MS
  return (
    <Text size="xs" c="dimmed" component="div">
      <Trans>
        until <Time value={lastMomentBefore(expires_at)} as="date" />
      </Trans>
      {isSoon && (
        <Badge color="yellow" ms="xs">
          <Trans>Soon</Trans>
        </Badge>
      )}
    </Text>
  )
}
