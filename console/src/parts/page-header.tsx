import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { useFocusAfterNavigation, usePageTitle } from '../page-title.ts'
import classes from './page-header.module.css'

interface Props {
  title: string
  description?: ReactNode
  /** Buttons, the most important one last. */
  actions?: ReactNode
  /** Beside the title, for a status. */
  badge?: ReactNode
}

/** The top of every page: its only h1, which takes the focus after navigation, and the title of the window. */
export function PageHeader({ title, description, actions, badge }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  usePageTitle(title)
  useFocusAfterNavigation(heading)
  return (
    <Group justify="space-between" align="flex-start" gap="md" mb="xl">
      <Stack gap={6} maw="44rem" flex="1 1 18rem" miw={0}>
        <Group gap="sm">
          <Title order={1} tabIndex={-1} ref={heading} miw={0} style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          {badge}
        </Group>
        {description && <Text c="dimmed">{description}</Text>}
      </Stack>
      {actions && (
        <Group gap="sm" className={`${classes.actions} no-print`}>
          {actions}
        </Group>
      )}
    </Group>
  )
}
