import { Pool, type PoolClient, type QueryResult } from 'pg'
import { within } from '../core/within.ts'
import { addressesOf } from '../core/database-address.ts'
import { Client, clientSettings, isPreparedAt, isStalePlan, toFailure, type ClientOptions } from './client.ts'
import { copyIn, copyOut } from './copy.ts'
import { serversOf } from './servers.ts'
import { openSession, type Session } from './session.ts'
import { compile, Fragment, type Statement, type Value } from './statement.ts'

export { isOutage } from './outage.ts'
export { assignments, columnsAndValues, commaSeparated, Fragment, identifier, Json } from './statement.ts'

/** Connections are renewed, so that they eventually follow a pooler or a changed DNS record to another host. */
const CONNECTION_LIFETIME_SECONDS = 60 * 60
/** Numbers the names of cursors and savepoints. */
let lastNameNumber = 0

type Row = Record<string, any>
export type Rows<T> = T & {
  /** Rows returned or changed. */
  readonly count: number
}

/** Runs statements: implemented by a pool and by a transaction. */
export interface Queries {
  <T extends readonly object[] = Row[]>(strings: TemplateStringsArray, ...values: (Value | Fragment)[]): Query<T>
  /** Sends the text unchanged over the simple protocol: several statements are allowed, parameters are not. */
  unsafe<T extends readonly object[] = Row[]>(text: string): Query<T>
}

/** A pool of connections. */
export interface Sql extends Queries {
  /** Runs the work in a transaction with this mode: isolation level, read only. */
  begin<T>(mode: string, work: (tx: Transaction) => Promise<T>): Promise<T>
  /** The same pool, bound to a signal: aborting it cancels a running statement and rolls back a transaction. */
  until(signal: AbortSignal): Sql
  /** Called with what this pool's transactions announce on the channel, after the commit. They resolve after it does. */
  onAnnounced(channel: string, listener: AnnouncementListener): void
  /** How many statements and transactions wait for a connection. */
  waiting(): number
  /** Waits for running work; after the timeout, closes its connections. */
  end(options?: { timeoutMs?: number }): Promise<void>
}

type AnnouncementListener = (payload: string) => void | Promise<void>

/** One transaction. Statements are rejected after it has ended or its connection is lost. */
export interface Transaction extends Queries {
  savepoint<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Sends a NOTIFY with the commit. The pool's own listeners do not have to wait for it. */
  announce(channel: string, payload: string): Promise<void>
  copyOut(text: string): AsyncGenerator<Buffer>
  copyIn(text: string, chunks: AsyncIterable<Buffer | string>): Promise<void>
}

export interface ConnectOptions {
  connectionsMax: number
  /** Shown in pg_stat_activity, so operators can see which part holds a connection. */
  name: string
  /**
   * For one statement or one transaction, including the wait for a free connection. On timeout the statement is
   * cancelled and its connection closed, because a connection that went silent must not be reused.
   */
  timeLimitMs?: number
  /** Infinity for a session that holds locks. */
  connectionLifetimeSeconds?: number
  /** Called whenever a connection ends, from either side. */
  onDisconnect?: () => void
  /** Called with each statement sent; tests count them. */
  onStatement?: ((statement: string) => void) | undefined
  /** Called with each NOTICE; a benchmark reads query plans from them. */
  onNotice?: (message: string) => void
  /** For a replica. Otherwise connections lead to the primary only. */
  isStandbyAllowed?: boolean
}

/** Runs the work in a transaction, or in a savepoint if `sql` is already a transaction. */
export async function transaction<T>(
  sql: Sql | Transaction | Queries,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return 'savepoint' in sql ? (sql as Transaction).savepoint(work) : (sql as Sql).begin('', work)
}

/** Runs statements on any connection of a pool, or on the connection of a transaction. */
interface Runner {
  run(statement: Statement): Promise<QueryResult>
  fetch(statement: Statement, rowsMax: number): AsyncGenerator<object[]>
}

/** A statement is sent when it is first awaited; until then it can be nested in another one. */
export class Query<T extends readonly object[]> extends Fragment implements Promise<Rows<T>> {
  readonly [Symbol.toStringTag] = 'Query'
  readonly #runner: Runner
  readonly #isSimple: boolean
  #answer: Promise<Rows<T>> | undefined

  constructor(runner: Runner, strings: readonly string[], values: readonly (Value | Fragment)[], isSimple = false) {
    super(strings, values)
    this.#runner = runner
    this.#isSimple = isSimple
  }

  // oxlint-disable-next-line unicorn/no-thenable -- this is what makes it awaitable
  then<A = Rows<T>, B = never>(
    onFulfilled?: ((rows: Rows<T>) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#answer ??= this.#send()
    return this.#answer.then(onFulfilled, onRejected)
  }

  catch<B = never>(onRejected?: ((reason: any) => B | PromiseLike<B>) | null): Promise<Rows<T> | B> {
    return this.then(undefined, onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<Rows<T>> {
    return this.then((rows) => rows).finally(onFinally)
  }

  /** Yields up to `rowsMax` rows at a time. Requires a transaction. */
  cursor(rowsMax: number): AsyncGenerator<T[number][]> {
    return this.#runner.fetch(compile(this), rowsMax) as AsyncGenerator<T[number][]>
  }

  async #send(): Promise<Rows<T>> {
    try {
      const statement = this.#isSimple ? command(this.strings[0]!) : compile(this)
      const { rows, rowCount } = await this.#runner.run(statement)
      return Object.defineProperty(rows, 'count', { value: rowCount ?? 0 }) as unknown as Rows<T>
    } catch (error) {
      // Replace the stack, which ends in the socket, with one that leads to the caller.
      Error.captureStackTrace(error as Error)
      throw error
    }
  }
}

function command(text: string): Statement {
  return { text, values: [], name: undefined }
}

function queriesOn(runner: Runner): Queries {
  const tag = (strings: TemplateStringsArray, ...values: (Value | Fragment)[]) =>
    new Query<any>(runner, strings, values)
  return Object.assign(tag, { unsafe: (text: string) => new Query<any>(runner, [text], [], true) }) as Queries
}

export function connect(url: string, options: ConnectOptions): Sql {
  const { connectionsMax, name, timeLimitMs = Infinity, onDisconnect, onStatement, onNotice } = options
  const { connectionLifetimeSeconds = CONNECTION_LIFETIME_SECONDS } = options
  const isPrepared = isPreparedAt(addressesOf(url)[0]!)
  const servers = serversOf(url, options)
  const pool = new Pool({
    ...({ ...clientSettings(name), servers } satisfies ClientOptions),
    Client: Client as any,
    max: connectionsMax,
    connectionTimeoutMillis: timeLimitMs === Infinity ? 0 : timeLimitMs,
    // Keep idle connections: a new one has to authenticate and prepare its statements again.
    idleTimeoutMillis: 0,
    // 0 means no limit.
    maxLifetimeSeconds: connectionLifetimeSeconds === Infinity ? 0 : connectionLifetimeSeconds,
  })
  const clients = new Set<PoolClient>()
  pool.on('connect', (client) => {
    clients.add(client)
    if (onDisconnect) client.on('end', onDisconnect)
    if (onNotice) client.on('notice', ({ message = '' }) => onNotice(message))
  })
  pool.on('remove', (client) => clients.delete(client))
  pool.on('error', () => {})
  const forget = servers.onFound((address) => {
    // The server that was the primary may have vanished without closing its connections.
    for (const client of clients as Set<PoolClient & Client>) if (client.address !== address) client.disconnect()
  })

  function acquire(signal: AbortSignal | undefined): Promise<Session> {
    const deadlineMs = performance.now() + timeLimitMs
    return new Promise((resolve, reject) => {
      const open = (isRetry: boolean) =>
        pool.connect((error, client) => {
          if (client) resolve(openSession(client, { isPrepared, deadlineMs, signal, onStatement }))
          else if (servers.isSettled() || isRetry) reject(toFailure(error))
          else findPrimary(true)
        })
      const findPrimary = (isRetry: boolean) => servers.settle().then(() => open(isRetry), reject)
      // Hot path: no promise while the primary is known.
      if (servers.isSettled()) open(false)
      else void findPrimary(false)
    })
  }

  async function runOnce(statement: Statement, signal: AbortSignal | undefined): Promise<QueryResult> {
    const session = await acquire(signal)
    try {
      return await session.run(statement)
    } finally {
      session.release()
    }
  }

  async function run(statement: Statement, signal: AbortSignal | undefined): Promise<QueryResult> {
    try {
      return await runOnce(statement, signal)
    } catch (error) {
      if (!isStalePlan(error)) throw error
      // Nothing was executed, so retry once. Without the name, because other connections may be stale too.
      return runOnce({ ...statement, name: '' }, signal)
    }
  }

  const listeners = new Map<string, AnnouncementListener[]>()

  async function announce(announcements: Announcement[]): Promise<void> {
    await Promise.all(
      announcements.flatMap(({ channel, payload }) => listeners.get(channel)?.map((listen) => listen(payload)) ?? []),
    )
  }

  async function runTransaction<T>(
    mode: string,
    work: (tx: Transaction) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const session = await acquire(signal)
    const announcements: Announcement[] = []
    let result: T
    try {
      await session.run(command(`begin ${mode}`))
      result = await runInScope(session, announcements, work)
      const { command: outcome } = await session.run(command('commit'))
      if (outcome !== 'COMMIT') throw new Error(`The transaction ended in ${outcome}.`)
    } catch (error) {
      await session.run(command('rollback')).catch(session.giveUp)
      throw error
    } finally {
      session.release()
    }
    await announce(announcements)
    return result
  }

  let ended: Promise<void> | undefined
  async function end({ timeoutMs = Infinity } = {}): Promise<void> {
    forget()
    const closed = pool.end()
    if (timeoutMs === Infinity) return closed
    await within(timeoutMs, closed)
    for (const client of clients) void client.end()
  }

  function createPool(signal?: AbortSignal): Sql {
    const runner: Runner = { run: (statement) => run(statement, signal), fetch: requireTransaction }
    return Object.assign(queriesOn(runner), {
      begin: <T>(mode: string, work: (tx: Transaction) => Promise<T>) => runTransaction(mode, work, signal),
      until: createPool,
      waiting: () => pool.waitingCount,
      onAnnounced(channel: string, listener: AnnouncementListener) {
        listeners.set(channel, [...(listeners.get(channel) ?? []), listener])
      },
      end: (endOptions?: { timeoutMs?: number }) => (ended ??= end(endOptions)),
    })
  }
  return createPool()
}

function requireTransaction(): never {
  throw new Error('A cursor needs a transaction.')
}

interface Announcement {
  channel: string
  payload: string
}

/** Runs the work of a transaction or savepoint; statements sent after it are rejected. */
async function runInScope<T>(
  session: Session,
  announcements: Announcement[],
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let isOpen = true
  let failure: unknown

  async function run(statement: Statement): Promise<QueryResult> {
    if (!isOpen) throw new Error('The transaction of this statement has ended.')
    try {
      return await session.run(statement)
    } catch (error) {
      failure ??= error
      throw error
    }
  }

  async function* fetch(statement: Statement, rowsMax: number): AsyncGenerator<object[]> {
    const cursor = `cursor_${(lastNameNumber += 1)}`
    // All rows will be read; by default the planner assumes a tenth of them.
    await run(command('set local cursor_tuple_fraction = 1'))
    await run({ ...statement, text: `declare ${cursor} no scroll cursor for ${statement.text}`, name: '' })
    for (;;) {
      const { rows } = await run(command(`fetch ${rowsMax} from ${cursor}`))
      if (rows.length > 0) yield rows
      if (rows.length < rowsMax) break
    }
    await run(command(`close ${cursor}`))
  }

  async function savepoint<U>(inner: (tx: Transaction) => Promise<U>): Promise<U> {
    const name = `savepoint_${(lastNameNumber += 1)}`
    await run(command(`savepoint ${name}`))
    try {
      const result = await runInScope(session, announcements, inner)
      await session.run(command(`release savepoint ${name}`))
      return result
    } catch (error) {
      await session.run(command(`rollback to savepoint ${name}`)).catch(session.giveUp)
      throw error
    }
  }

  const queries = queriesOn({ run, fetch })
  const tx: Transaction = Object.assign(queries, {
    savepoint,
    async announce(channel: string, payload: string) {
      await queries`select pg_notify(${channel}, ${payload})`
      announcements.push({ channel, payload })
    },
    copyOut: (text: string) => copyOut(session, text),
    copyIn: (text: string, chunks: AsyncIterable<Buffer | string>) => copyIn(session, text, chunks),
  })
  try {
    const result = await work(tx)
    // The transaction is aborted, even if the work caught the error and continued.
    if (failure) throw failure
    return result
  } finally {
    isOpen = false
  }
}
