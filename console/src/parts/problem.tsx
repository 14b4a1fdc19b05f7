import { Alert, Button, Group, Text } from '@mantine/core'
import { ApiError, errorText } from '../api.ts'
import { Icon } from './icons.tsx'

/** Something could not be loaded or done: what, why, and a way on. */
export function Problem({ error, again }: { error: unknown; again?: () => void }) {
  return (
    <Alert color="red" variant="light" role="alert" icon={<Icon name="warning" />} title="This did not work">
      <Text size="sm">{errorText(error)}</Text>
      {error instanceof ApiError && error.requestId && (
        <Text size="xs" mt={4}>
          Request {error.requestId}
        </Text>
      )}
      {again && (
        <Group mt="sm">
          <Button size="compact-sm" variant="default" onClick={again}>
            Try again
          </Button>
        </Group>
      )}
    </Alert>
  )
}
