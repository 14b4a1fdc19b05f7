import postgres from 'postgres'

/** What the driver serialises beyond its own: see `types` below. */
type Types = { bigint: number; date: string }

export type Sql = postgres.Sql<Types>
export type Transaction = postgres.TransactionSql<Types>
/** What a query needs: the pool, or a transaction of it. */
export type Queries = Sql | Transaction

const CONNECT_TIMEOUT_SECONDS = 5
const RECONNECT_DELAY_SECONDS = 0.5
const INT8_OID = 20
const DATE_OID = 1082
const TIMESTAMPTZ_OID = 1184
/** How PostgreSQL writes times: 2026-01-31 09:00:00.123456+00, in UTC by the setting below. */
const UTC_OFFSET = '+00'

export interface ConnectOptions {
  connectionsMax: number
  /** Shown in pg_stat_activity, so that an operator sees which part holds a connection. */
  name: string
  /** Called with each statement sent; tests count them. */
  onStatement?: ((statement: string) => void) | undefined
}

export function connect(url: string, options: ConnectOptions): Sql {
  return postgres(url, {
    max: options.connectionsMax,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    // The driver's own back-off grows to a minute; a request that arrives after an outage must not wait for it.
    backoff: () => RECONNECT_DELAY_SECONDS,
    connection: { application_name: `hourbank ${options.name}`, TimeZone: 'UTC' },
    types: {
      bigint: { to: INT8_OID, from: [INT8_OID], serialize: String, parse: safeInteger },
      date: { to: TIMESTAMPTZ_OID, from: [DATE_OID, TIMESTAMPTZ_OID], serialize: wireTime, parse: rfc3339 },
    },
    onnotice: () => {},
    ...(options.onStatement && { debug: (_connection, statement) => options.onStatement!(statement) }),
  })
}

/** All or nothing; within another transaction, a part of it. */
export async function transaction<T>(sql: Queries, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return ('savepoint' in sql ? sql.savepoint(work) : sql.begin(work)) as Promise<T>
}

/** A transaction of its own kind: isolation, read only. */
export async function begin<T>(sql: Sql, mode: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return sql.begin(mode, work) as Promise<T>
}

/** Ids and centihours stay far below 2^53; a value above is a defect that must not pass as a rounded number. */
function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} does not fit a JavaScript number`)
  return value
}

/** Kept as text with its microseconds: a Date would round them away, and a reader that follows times would miss rows. */
function rfc3339(text: string): string {
  // Cut and not replaced: a page of 100 members has 200 of these, which took 170 µs more by regular expression.
  if (!text.endsWith(UTC_OFFSET)) return text
  const space = text.indexOf(' ')
  return `${text.slice(0, space)}T${text.slice(space + 1, -UTC_OFFSET.length)}Z`
}

function wireTime(time: Date | string): string {
  return typeof time === 'string' ? time : time.toISOString()
}

const OUTAGE_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  // A standby that was promoted away from us: read-only transaction.
  '25006',
])
/** Connection exception, insufficient resources, operator intervention. */
const OUTAGE_CLASSES = new Set(['08', '53', '57'])

/** Whether an error says that the database is away, as opposed to a statement being wrong. */
export function isOutage(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return (
    typeof code === 'string' &&
    (OUTAGE_CODES.has(code) || (/^[0-9A-Z]{5}$/.test(code) && OUTAGE_CLASSES.has(code.slice(0, 2))))
  )
}
