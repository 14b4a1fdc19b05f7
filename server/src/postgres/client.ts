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
/** A session that reported one of these is over. */
const FINAL_SEVERITIES = new Set(['FATAL', 'PANIC'])

/** Where PostgreSQL reports that a prepared statement no longer fits (0A000) or is unknown (26000). */
const STALE_PLAN_ROUTINES = new Set(['RevalidateCachedQuery', 'FetchPreparedStatement'])

export interface ClientSettings {
  config: ClientConfig
  /** False behind a pooler that does not know prepared statements (`?prepare=false` in the address). */
  isPrepared: boolean
}

export function clientSettings(url: string, name: string): ClientSettings {
  const address = new URL(url)
  const isPrepared = address.searchParams.get('prepare') !== 'false'
  address.searchParams.delete('prepare')
  // `sslmode` as libpq understands it; the driver otherwise takes `require` for `verify-full`.
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

/** The driver's types do not mention it. */
interface Startup {
  getStartupConf(): Record<string, string>
}
const driverStartup = DriverClient.prototype as unknown as Startup

/** Sessions in UTC. As a startup parameter, because poolers pass that one on, and neither `options` nor a SET. */
export class Client extends DriverClient implements Startup {
  constructor(config?: ClientConfig) {
    // The pool's own limit of this name is for waiting; this one is for the network.
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  }

  getStartupConf(): Record<string, string> {
    return { ...driverStartup.getStartupConf.call(this), TimeZone: 'UTC' }
  }
}

/** The driver has no class for a lost connection. Whatever comes neither from the server nor from a bug of ours is one. */
export function toFailure(error: unknown): Error {
  const isOther = [DatabaseError, DatabaseUnavailable, UnreadableValue, TypeError].some((kind) => error instanceof kind)
  if (isOther) return error as Error
  return new DatabaseUnavailable(messageOf(error), { cause: error })
}

/** A name with several addresses fails once for each, and the whole has no message of its own. */
function messageOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : (error as Error).message
}

export function endsSession(failure: Error): boolean {
  if (failure instanceof DatabaseError) return FINAL_SEVERITIES.has(failure.severity ?? '') || isStalePlan(failure)
  return failure instanceof DatabaseUnavailable
}

/** A migration changed a prepared statement's result, or a pooler put us on a server that does not know the statement. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && STALE_PLAN_ROUTINES.has(error.routine ?? '')
}

/** Asks the server, on a connection of its own, to end what the client is running. Resolves whatever comes of it. */
export function cancelStatement(client: DriverClient): Promise<void> {
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
  const { host, port, ssl } = client
  // Not in the driver's types: what its own `cancel` is made of.
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
