import { t } from '@lingui/core/macro'
import { type Connection, useConnection } from '../connection.ts'
import classes from './connection-banner.module.css'

function textOf({ state, reason }: Connection): string {
  if (state === 'ok') return ''
  if (state === 'lost') return t`No connection to the service. Trying again …`
  return reason === undefined
    ? t`The service is not available at the moment. Trying again …`
    : t`${reason} Trying again …`
}

/** Goes away by itself as soon as the service answers. */
export function ConnectionBanner() {
  const connection = useConnection()
  return (
    <div role="status" className={`${classes.banner} no-print`} data-shown={connection.state !== 'ok' || undefined}>
      {textOf(connection)}
    </div>
  )
}
