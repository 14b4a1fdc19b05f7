import { plural } from '@lingui/core/macro'
import { Link } from '@tanstack/react-router'
import { formatNumber } from '../language/formats.ts'
import { Icon } from '../parts/icons.tsx'
import { useRead } from '../reading.ts'
import type { Alert } from '../wire.ts'
import classes from './header-button.module.css'

const LOOK_AGAIN_MS = 60_000

/** How much is out of order, on every page. */
export function AlertBell({ slug }: { slug: string }) {
  const { data } = useRead<Alert[]>(`/communities/${slug}/alerts/open`, undefined, LOOK_AGAIN_MS)
  const count = data?.length ?? 0
  return (
    <Link
      className={classes.button}
      to="/$slug/alerts"
      params={{ slug }}
      aria-label={plural(count, { 0: 'Alerts: none', other: 'Alerts: #' })}
    >
      <Icon name="bell" />
      {count > 0 && <span aria-hidden="true">{formatNumber(count)}</span>}
    </Link>
  )
}
