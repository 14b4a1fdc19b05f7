import { Box, Group, Title } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { useFocusAfterNavigation, usePageTitle } from '../page-title.ts'
import { HeadingRow } from './heading-row.tsx'

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
    <Box mb="xl">
      <HeadingRow
        isPage
        heading={
          <Group gap="sm">
            <Title order={1} tabIndex={-1} ref={heading} miw={0} style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Title>
            {badge}
          </Group>
        }
        description={description}
        actions={actions}
      />
    </Box>
  )
}
