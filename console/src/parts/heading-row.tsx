import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './heading-row.module.css'

interface Props {
  heading: ReactNode
  description?: ReactNode
  /** Buttons, the most important one last. */
  actions?: ReactNode
  /** Of a whole page, which may have several buttons: on a phone they share the width. */
  isPage?: boolean
}

/** A heading, what can be done, and what it is about. */
export function HeadingRow({ heading, description, actions, isPage = false }: Props) {
  return (
    <div className={classes.row} data-page={isPage || undefined}>
      <div className={classes.heading}>
        {heading}
        {description && (
          <Text c="dimmed" className={classes.description} {...(isPage ? {} : { size: 'sm' })}>
            {description}
          </Text>
        )}
      </div>
      {actions && <div className={`${classes.actions} no-print`}>{actions}</div>}
    </div>
  )
}
