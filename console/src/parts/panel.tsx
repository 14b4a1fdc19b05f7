import { Paper, Stack, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { HeadingRow } from './heading-row.tsx'
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
          <HeadingRow
            heading={
              title && (
                <Title order={2} id={id}>
                  {title}
                </Title>
              )
            }
            description={description}
            actions={actions}
          />
        )}
        {children}
      </Stack>
    </Paper>
  )
}
