import { type ConnectionState, useConnection } from '../connection.ts'
import classes from './connection-banner.module.css'

const TEXT: Record<ConnectionState, string> = {
  ok: '',
  lost: 'No connection to the service. Trying again …',
  unavailable: 'The service is not available at the moment. Trying again …',
}

/** Goes away by itself as soon as the service answers. */
export function ConnectionBanner() {
  const { state, reason } = useConnection()
  return (
    <div role="status" className={`${classes.banner} no-print`} data-shown={state !== 'ok' || undefined}>
      {reason === undefined ? TEXT[state] : `${reason} Trying again …`}
    </div>
  )
}
