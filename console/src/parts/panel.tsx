import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './panel.module.css'

interface Props {
  title?: string
  description?: ReactNode
  actions?: ReactNode
  /** For what cannot be undone: drawn apart from the rest. */
  danger?: boolean
  children?: ReactNode
}

/** A part of a page under a heading of its own (h2). */
export function Panel({ title, description, actions, danger = false, children }: Props) {
  const id = useId()
  return (
    <Paper
      component="section"
      className={classes.panel}
      data-danger={danger || undefined}
      {...(title ? { 'aria-labelledby': id } : {})}
    >
      <Stack gap="md">
        {(title || actions) && (
          <Group justify="space-between" align="flex-start">
            <Stack gap={2} flex="1 1 14rem" miw={0}>
              {title && (
                <Title order={2} id={id}>
                  {title}
                </Title>
              )}
              {description && (
                <Text size="sm" c="dimmed" maw="44rem">
                  {description}
                </Text>
              )}
            </Stack>
            {actions && (
              <Group gap="sm" className="no-print">
                {actions}
              </Group>
            )}
          </Group>
        )}
        {children}
      </Stack>
    </Paper>
  )
}
