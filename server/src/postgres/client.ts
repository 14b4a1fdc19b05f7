import {
  Client as DriverClient,
  Connection,
  DatabaseError,
  type ClientConfig,
  type ConnectionConfig,
  type types,
} from 'pg'
import { DatabaseUnavailable, READ_ONLY_TRANSACTION } from './outage.ts'
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

/** SQLSTATE: a prepared statement exists already, or does not exist. Each connection has names of its own. */
const MIXED_UP_SESSION = new Set(['42P05', '26000'])
const MIXED_UP_HELP =
  'a pooler in between mixes up prepared statements, as PgBouncer in transaction mode does before 1.21 or without ' +
  'max_prepared_statements; add ?prepare=false to its address, or &prepare=false after other parameters'

/** The settings of all connections, whichever server they lead to. */
export function clientSettings(name: string): ClientConfig {
  return {
    application_name: `hourbank ${name}`,
    types: { getTypeParser: parserFor as typeof types.getTypeParser },
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
  }
}

/** False behind a pooler without support for prepared statements (`?prepare=false` in the URL). */
export function isPreparedAt(address: string): boolean {
  return new URL(address).searchParams.get('prepare') !== 'false'
}

/** Translates the address of one server into one for the driver. */
export function driverAddress(address: string): string {
  const url = new URL(address)
  url.searchParams.delete('prepare')
  // Another machine is reached over a network, where others may listen.
  if (!url.searchParams.has('sslmode') && isRemote(url)) url.searchParams.set('sslmode', 'require')
  // Interpret `sslmode` as libpq does; the driver would treat `require` as `verify-full`.
  if (url.searchParams.has('sslmode')) url.searchParams.set('uselibpqcompat', 'true')
  return url.href
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

/** What a server says about itself. */
export interface ServerState {
  is_standby: boolean
  /** Every promotion starts a new one. Null on a standby, and where only one server is known. */
  timeline: number | null
}

/** Names the server for each new connection, and decides whether it may be used. */
export interface ServerChoice {
  /** The driver's address of the server to connect to. */
  readonly address: string
  /** Whether other servers are known, so that timelines matter. Some managed databases do not tell theirs. */
  readonly hasOthers: boolean
  /** Returns the reason why the server at this address must not be used. */
  findObjection(address: string, state: ServerState): Error | undefined
  onFailure(address: string): void
}

const ASK_STATE = 'select pg_is_in_recovery() as is_standby, null::int4 as timeline'
/** The name of a WAL file begins with the timeline, in hexadecimal. */
const ASK_STATE_AND_TIMELINE = `
  select is_standby, case when not is_standby then
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int4 end as timeline
  from (select pg_is_in_recovery() as is_standby) s`

export type ClientOptions = ClientConfig & { servers: ServerChoice }
type ConnectCallback = (error?: Error | null) => void

/** A connection to one server. Connecting fails if the server may not be used. */
export class Client extends DriverClient implements Startup {
  readonly #servers: ServerChoice
  readonly address: string

  constructor(options: ClientOptions) {
    const { address } = options.servers
    // The pool's option of this name limits the wait for a free connection; this one limits connecting.
    super({ ...options, connectionString: address, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
    this.#servers = options.servers
    this.address = address
    // An 'error' event without a listener would end the process. Running statements are rejected separately.
    this.on('error', () => {})
  }

  /** Sets the session to UTC with a startup parameter: poolers forward it, but neither `options` nor SET. */
  getStartupConf(): Record<string, string> {
    return { ...driverStartup.getStartupConf.call(this), TimeZone: 'UTC' }
  }

  override connect(): Promise<this>
  override connect(callback: ConnectCallback): void
  override connect(callback?: ConnectCallback): Promise<this> | void {
    if (!callback) {
      return new Promise((resolve, reject) => this.connect((error) => (error ? reject(error) : resolve(this))))
    }
    super.connect((error: Error | null) => {
      if (!error) return this.#askState(callback)
      this.#servers.onFailure(this.address)
      callback(error)
    })
  }

  /** For a server that no longer answers, or that must not be used any more. Running statements are rejected. */
  disconnect(): void {
    ;(this as unknown as { connection: Connection }).connection.stream.destroy()
  }

  #askState(callback: ConnectCallback): void {
    const timer = setTimeout(() => this.disconnect(), CONNECT_TIMEOUT_MS)
    const text = this.#servers.hasOthers ? ASK_STATE_AND_TIMELINE : ASK_STATE
    this.query<ServerState>(text, (error: Error | null, result) => {
      clearTimeout(timer)
      const failure = error ?? this.#servers.findObjection(this.address, result.rows[0]!)
      if (!failure) return callback()
      this.#servers.onFailure(this.address)
      this.disconnect()
      callback(failure)
    })
  }
}

/** The driver has no error class for a lost connection: any error that is neither the server's nor our bug is one. */
export function toFailure(error: unknown): Error {
  const isKnown = [DatabaseError, DatabaseUnavailable, UnreadableValue, TypeError].some((kind) => error instanceof kind)
  if (isMixedUp(error)) error.message = `${error.message}; ${MIXED_UP_HELP}`
  if (isKnown) return error as Error
  const message = messageOf(error)
  return new DatabaseUnavailable(message === NO_TLS ? NO_TLS_HELP : message, { cause: error })
}

/** Whether a pooler gave a connection another session than the one in which it had prepared its statements. */
export function isMixedUp(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && MIXED_UP_SESSION.has(error.code ?? '')
}

/** A host name with several addresses fails once per address, in an AggregateError without a message. */
function messageOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : (error as Error).message
}

export function endsSession(failure: Error): boolean {
  if (failure instanceof DatabaseError) {
    // A primary that has become a standby keeps its sessions, which then only read.
    const isDemoted = failure.code === READ_ONLY_TRANSACTION
    return FINAL_SEVERITIES.has(failure.severity ?? '') || isDemoted || isStalePlan(failure)
  }
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
