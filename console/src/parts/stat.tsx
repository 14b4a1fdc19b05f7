import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './stat.module.css'

/** One figure with its name, for the top of a page. Put several into `<StatRow>`. */
export function Stat({ label, value, hint }: { label: string; value: ReactNode; hint?: ReactNode }) {
  return (
    <Paper className={classes.stat}>
      <dt className={classes.label}>{label}</dt>
      <dd className={classes.value}>
        {value}
        {hint && (
          <Text component="span" size="sm" c="dimmed" className={classes.hint}>
            {hint}
          </Text>
        )}
      </dd>
    </Paper>
  )
}

export function StatRow({ children }: { children: ReactNode }) {
  return <dl className={classes.row}>{children}</dl>
}
