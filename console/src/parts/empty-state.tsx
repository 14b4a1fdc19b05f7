import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Where nothing is yet: what would be here, and what to do about it. */
export function EmptyState({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <Stack align="center" gap="sm" py="xl" px="md" ta="center">
      <Text fw={600} size="lg">
        {title}
      </Text>
      {children && (
        <Text c="dimmed" maw="32rem" style={{ textWrap: 'balance' }}>
          {children}
        </Text>
      )}
      {action}
    </Stack>
  )
}
