import {
  Client as DriverClient,
  Connection,
  DatabaseError,
  type ClientConfig,
  type ConnectionConfig,
  type types,
} from 'pg'
import { DatabaseUnavailable } from './outage.ts'
import { parserFor, UnreadableValue } from './types.ts'

const CONNECT_TIMEOUT_MS = 5_000
const CANCEL_TIMEOUT_MS = 1_000
const KEEP_ALIVE_DELAY_MS = 10_000
/** A session ends with an error of one of these severities. */
const FINAL_SEVERITIES = new Set(['FATAL', 'PANIC'])

/** The routines that report that a prepared statement's result type changed (0A000) or that it is unknown (26000). */
const STALE_PLAN_ROUTINES = new Set(['RevalidateCachedQuery', 'FetchPreparedStatement'])

/** The driver's message. */
const NO_TLS = 'The server does not support SSL connections'
const NO_TLS_HELP =
  'the server does not offer TLS, which is required for a database on another machine; switch it on there (ssl = on), or ' +
  'add ?sslmode=disable to the address if nobody can listen on the network in between'

export interface ClientSettings {
  config: ClientConfig
  /** False behind a pooler without support for prepared statements (`?prepare=false` in the URL). */
  isPrepared: boolean
}

export function clientSettings(url: string, name: string): ClientSettings {
  const address = new URL(url)
  const isPrepared = address.searchParams.get('prepare') !== 'false'
  address.searchParams.delete('prepare')
  // Another machine is reached over a network, where others may listen.
  if (!address.searchParams.has('sslmode') && isRemote(address)) address.searchParams.set('sslmode', 'require')
  // Interpret `sslmode` as libpq does; the driver would treat `require` as `verify-full`.
  if (address.searchParams.has('sslmode')) address.searchParams.set('uselibpqcompat', 'true')
  return {
    config: {
      connectionString: address.href,
      application_name: `hourbank ${name}`,
      types: { getTypeParser: parserFor as typeof types.getTypeParser },
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    },
    isPrepared,
  }
}

/** Parameters that configure TLS in detail. If one of them is set, it decides. */
const TLS_PARAMETERS = ['ssl', 'sslcert', 'sslkey', 'sslrootcert']

/** Whether the server is on another machine. A host that is a path is the folder of a Unix socket. */
export function isRemote({ hostname, searchParams }: URL): boolean {
  if (TLS_PARAMETERS.some((name) => searchParams.has(name))) return false
  const host = decodeURIComponent(searchParams.get('host') ?? hostname).replace(/^\[|\]$/g, '')
  return !(host === '' || host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\.[\d.]+$/.test(host))
}

/** Missing from the driver's types. */
interface Startup {
  getStartupConf(): Record<string, string>
}
const driverStartup = DriverClient.prototype as unknown as Startup

/** Sets the session to UTC with a startup parameter: poolers forward it, but neither `options` nor SET. */
export class Client extends DriverClient implements Startup {
  constructor(config?: ClientConfig) {
    // The pool's option of this name limits the wait for a free connection; this one limits connecting.
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  }

  getStartupConf(): Record<string, string> {
    return { ...driverStartup.getStartupConf.call(this), TimeZone: 'UTC' }
  }
}

/** The driver has no error class for a lost connection: any error that is neither the server's nor our bug is one. */
export function toFailure(error: unknown): Error {
  const isKnown = [DatabaseError, DatabaseUnavailable, UnreadableValue, TypeError].some((kind) => error instanceof kind)
  if (isKnown) return error as Error
  const message = messageOf(error)
  return new DatabaseUnavailable(message === NO_TLS ? NO_TLS_HELP : message, { cause: error })
}

/** A host name with several addresses fails once per address, in an AggregateError without a message. */
function messageOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : (error as Error).message
}

export function endsSession(failure: Error): boolean {
  if (failure instanceof DatabaseError) return FINAL_SEVERITIES.has(failure.severity ?? '') || isStalePlan(failure)
  return failure instanceof DatabaseUnavailable
}

/** A migration changed a prepared statement's result, or a pooler switched to a server without the statement. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && STALE_PLAN_ROUTINES.has(error.routine ?? '')
}

/** Asks the server, on a separate connection, to cancel the client's running statement. Always resolves. */
export function cancelStatement(client: DriverClient): Promise<void> {
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
  const { host, port, ssl } = client
  // The methods behind the driver's own `cancel`, which its types leave out.
  const connection = new Connection({ ssl } as ConnectionConfig) as Connection & {
    connect(port: number, host: string): void
    requestSsl(): void
    cancel(processID: number, secretKey: number): void
  }
  return new Promise((resolve) => {
    const timer = setTimeout(() => connection.stream.destroy(), CANCEL_TIMEOUT_MS)
    const cancel = () => connection.cancel(processID, secretKey)
    connection.once('connect', () => (ssl ? connection.requestSsl() : cancel()))
    connection.once('sslconnect', cancel)
    connection.on('error', () => {})
    connection.once('end', () => {
      clearTimeout(timer)
      resolve()
    })
    connection.connect(port, host)
  })
}
