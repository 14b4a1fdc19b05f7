import { Trans } from '@lingui/react/macro'
import { Alert, Text } from '@mantine/core'
import { Icon } from '../parts/icons.tsx'
import { LinkText } from '../parts/links.tsx'
import { useRead } from '../reading.ts'
import type { PartnerApiState } from '../wire.ts'

/** While the partner API is switched off, everyone sees it on every page: it is easily forgotten. */
export function PartnerApiBanner({ slug }: { slug: string }) {
  const { data: state } = useRead<PartnerApiState>(`/communities/${slug}/partner-api`)
  if (!state || state.enabled) return null
  return (
    <Alert color="yellow" variant="light" role="status" icon={<Icon name="pause" />} mb="lg" className="no-print">
      <Text size="sm">
        <Trans>
          The partner API of this community is switched off: no partner can call. Reason: <bdi>{state.reason}</bdi>{' '}
          <LinkText to="/$slug/partners" params={{ slug }} size="sm" c="inherit" underline="always">
            To the switch
          </LinkText>
        </Trans>
      </Text>
    </Alert>
  )
}
