import { Paper, Stack, Title } from '@mantine/core'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { HeadingRow } from './heading-row.tsx'
import classes from './panel.module.css'

interface Props {
  title?: string
  description?: ReactNode
  actions?: ReactNode
  /** For what cannot be undone: drawn apart from the rest. */
  danger?: boolean
  /** A step that took the place of another one: its heading takes the focus, so that a screen reader goes on there. */
  isStep?: boolean
  children?: ReactNode
}

/** A part of a page under a heading of its own (h2). */
export function Panel({ title, description, actions, danger = false, isStep = false, children }: Props) {
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (isStep) heading.current?.focus()
  }, [isStep])
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
                <Title order={2} id={id} ref={heading} {...(isStep ? { tabIndex: -1 } : {})}>
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
