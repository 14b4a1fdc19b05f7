import { Pool, type PoolClient, type QueryResult } from 'pg'
import { Client, clientSettings, isStalePlan, toFailure } from './client.ts'
import { copyIn, copyOut } from './copy.ts'
import { openSession, type Session } from './session.ts'
import { compile, Fragment, type Statement, type Value } from './statement.ts'

export { isOutage } from './outage.ts'
export { assignments, columnsAndValues, Fragment, identifier, Json } from './statement.ts'

/** Poolers and failovers move; a connection must not outlive them for ever. */
const CONNECTION_LIFETIME_SECONDS = 60 * 60
/** Of cursors and savepoints. */
let namesGiven = 0

type Row = Record<string, any>
export type Rows<T> = T & {
  /** Rows returned or changed. */
  readonly count: number
}

/** What a query needs: the pool, or a transaction of it. */
export interface Queries {
  <T extends readonly object[] = Row[]>(strings: TemplateStringsArray, ...values: (Value | Fragment)[]): Query<T>
  /** A text as it is, by the simple protocol: several statements, no parameters. */
  unsafe<T extends readonly object[] = Row[]>(text: string): Query<T>
}

/** A pool of connections. */
export interface Sql extends Queries {
  begin<T>(mode: string, work: (tx: Transaction) => Promise<T>): Promise<T>
  /** The same pool, for work that ends with the signal: a statement is cancelled, a transaction rolled back. */
  until(signal: AbortSignal): Sql
  /** Waits for what is running; after the time limit, its connections are cut. */
  end(options?: { timeoutMs?: number }): Promise<void>
}

/** One transaction. Rejects every statement once it has ended or its connection is lost. */
export interface Transaction extends Queries {
  savepoint<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  copyOut(text: string): AsyncGenerator<Buffer>
  copyIn(text: string, chunks: AsyncIterable<Buffer | string>): Promise<void>
}

export interface ConnectOptions {
  connectionsMax: number
  /** Shown in pg_stat_activity, so that an operator sees which part holds a connection. */
  name: string
  /**
   * For one statement or one transaction, the wait for a free connection included. What takes longer is ended together
   * with its connection: the server is asked to cancel it, and a connection that went silent is not used again.
   */
  timeLimitMs?: number
  /** Infinity for a session that holds locks. */
  connectionLifetimeSeconds?: number
  /** Called whenever a connection has ended, whoever ended it. */
  onDisconnect?: () => void
  /** Called with each statement sent; tests count them. */
  onStatement?: ((statement: string) => void) | undefined
  /** Called with what the server reports beside results; a bench reads plans from it. */
  onNotice?: (message: string) => void
}

/** All or nothing; within another transaction, a part of it. */
export async function transaction<T>(
  sql: Sql | Transaction | Queries,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return 'savepoint' in sql ? (sql as Transaction).savepoint(work) : (sql as Sql).begin('', work)
}

/** A transaction of its own kind: isolation, read only. */
export async function begin<T>(sql: Sql, mode: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return sql.begin(mode, work)
}

/** Where statements are run: on any connection of a pool, or on the one of a transaction. */
interface Runner {
  run(statement: Statement): Promise<QueryResult>
  fetch(statement: Statement, rowsMax: number): AsyncGenerator<object[]>
}

/** A statement is sent when it is first awaited; until then it can be nested in another. */
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

  /** The rows, up to `rowsMax` at a time. Only within a transaction. */
  cursor(rowsMax: number): AsyncGenerator<T[number][]> {
    return this.#runner.fetch(compile(this), rowsMax) as AsyncGenerator<T[number][]>
  }

  async #send(): Promise<Rows<T>> {
    try {
      const statement = this.#isSimple ? command(this.strings[0]!) : compile(this)
      const { rows, rowCount } = await this.#runner.run(statement)
      return Object.defineProperty(rows, 'count', { value: rowCount ?? 0 }) as unknown as Rows<T>
    } catch (error) {
      // Instead of a trace that ends in the socket: here it leads to the caller.
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
  const { config, isPrepared } = clientSettings(url, name)
  const pool = new Pool({
    ...config,
    Client: Client as any,
    max: connectionsMax,
    connectionTimeoutMillis: timeLimitMs === Infinity ? 0 : timeLimitMs,
    // Never: a new connection has to log in and to prepare its statements.
    idleTimeoutMillis: 0,
    // 0 stands for no limit, here and above.
    maxLifetimeSeconds: connectionLifetimeSeconds === Infinity ? 0 : connectionLifetimeSeconds,
  })
  const clients = new Set<PoolClient>()
  pool.on('connect', (client) => {
    clients.add(client)
    // An error without a listener would end the process. Whatever was running is rejected with it as well.
    client.on('error', () => {})
    if (onDisconnect) client.on('end', onDisconnect)
    if (onNotice) client.on('notice', ({ message = '' }) => onNotice(message))
  })
  pool.on('remove', (client) => clients.delete(client))
  pool.on('error', () => {})

  function acquire(signal: AbortSignal | undefined): Promise<Session> {
    const deadlineMs = performance.now() + timeLimitMs
    return new Promise((resolve, reject) => {
      pool.connect((error, client) => {
        if (error) reject(toFailure(error))
        else resolve(openSession(client!, { isPrepared, deadlineMs, signal, onStatement }))
      })
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
      // Nothing was executed, so it can be sent once more: without the name, as other connections may be as old.
      return runOnce({ ...statement, name: '' }, signal)
    }
  }

  async function beginWork<T>(
    mode: string,
    work: (tx: Transaction) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const session = await acquire(signal)
    try {
      await session.run(command(`begin ${mode}`))
      const result = await inScope(session, work)
      const { command: outcome } = await session.run(command('commit'))
      if (outcome !== 'COMMIT') throw new Error(`The transaction ended in ${outcome}.`)
      return result
    } catch (error) {
      await session.run(command('rollback')).catch(session.giveUp)
      throw error
    } finally {
      session.release()
    }
  }

  let ended: Promise<void> | undefined
  async function end({ timeoutMs = Infinity } = {}): Promise<void> {
    const closed = pool.end()
    if (timeoutMs === Infinity) return closed
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)))
    await Promise.race([closed, timeout]).finally(() => clearTimeout(timer))
    for (const client of clients) void client.end()
  }

  function poolUntil(signal?: AbortSignal): Sql {
    const runner: Runner = { run: (statement) => run(statement, signal), fetch: needTransaction }
    return Object.assign(queriesOn(runner), {
      begin: <T>(mode: string, work: (tx: Transaction) => Promise<T>) => beginWork(mode, work, signal),
      until: poolUntil,
      end: (endOptions?: { timeoutMs?: number }) => (ended ??= end(endOptions)),
    })
  }
  return poolUntil()
}

function needTransaction(): never {
  throw new Error('A cursor needs a transaction.')
}

/** Runs the work of a transaction or a savepoint; afterwards its statements are rejected. */
async function inScope<T>(session: Session, work: (tx: Transaction) => Promise<T>): Promise<T> {
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
    const cursor = `cursor_${(namesGiven += 1)}`
    // All rows will be read; by default the planner expects a tenth.
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
    const name = `savepoint_${(namesGiven += 1)}`
    await run(command(`savepoint ${name}`))
    try {
      const result = await inScope(session, inner)
      await session.run(command(`release savepoint ${name}`))
      return result
    } catch (error) {
      await session.run(command(`rollback to savepoint ${name}`)).catch(session.giveUp)
      throw error
    }
  }

  const tx: Transaction = Object.assign(queriesOn({ run, fetch }), {
    savepoint,
    copyOut: (text: string) => copyOut(session, text),
    copyIn: (text: string, chunks: AsyncIterable<Buffer | string>) => copyIn(session, text, chunks),
  })
  try {
    const result = await work(tx)
    // The server has forgotten the whole transaction then, though the work went on.
    if (failure) throw failure
    return result
  } finally {
    isOpen = false
  }
}
