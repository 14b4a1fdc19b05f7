import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Group, Text } from '@mantine/core'
import { errorText, failedRequestId } from '../api.ts'
import { Icon } from './icons.tsx'

/** Something could not be loaded or done: what, why, and a way on. */
export function Problem({ error, again }: { error: unknown; again?: () => void }) {
  const requestId = failedRequestId(error)
  return (
    <Alert color="red" variant="light" role="alert" icon={<Icon name="warning" />} title={t`This did not work`}>
      <Text size="sm">{errorText(error)}</Text>
      {requestId && (
        <Text size="xs" mt={4}>
          <Trans>Request {requestId}</Trans>
        </Text>
      )}
      {again && (
        <Group mt="sm">
          <Button size="compact-sm" variant="default" onClick={again}>
            <Trans>Try again</Trans>
          </Button>
        </Group>
      )}
    </Alert>
  )
}
