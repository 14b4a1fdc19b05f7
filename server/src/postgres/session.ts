import type { PoolClient, QueryResult } from 'pg'
import { cancelStatement, endsSession, toFailure } from './client.ts'
import { DatabaseUnavailable } from './outage.ts'
import type { Statement } from './statement.ts'

export interface SessionOptions {
  isPrepared: boolean
  /** By performance.now(); what still runs then is ended together with the connection. */
  deadlineMs: number
  /** The same when it is aborted. */
  signal: AbortSignal | undefined
  onStatement: ((text: string) => void) | undefined
}

/** One connection, taken from the pool for one statement or one transaction. */
export interface Session {
  /** Statements wait for each other. Once the connection is lost every further one is rejected. */
  run(statement: Statement): Promise<QueryResult>
  /** For a COPY, which speaks to the connection itself. If it fails or is abandoned, the connection is given up. */
  borrow<T>(work: (client: PoolClient) => Promise<T>): Promise<T>
  /** Closes the connection when it is released. */
  giveUp(reason: Error): void
  release(): void
}

export function openSession(client: PoolClient, options: SessionOptions): Session {
  const { isPrepared, deadlineMs, signal, onStatement } = options
  let lost: Error | undefined
  let cancelling: Promise<void> | undefined
  let last: Promise<unknown> | undefined
  /** Rejects the statement in flight. */
  let abandon: ((reason: Error) => void) | undefined

  function giveUp(reason: Error): void {
    lost ??= reason
  }

  /** Rejects at once; the connection is closed when it is released. */
  function interrupt(reason: Error): void {
    giveUp(reason)
    if (!abandon) return
    cancelling = cancelStatement(client)
    abandon(reason)
  }
  const onAbort = () => interrupt(signal!.reason)
  if (signal?.aborted) giveUp(signal.reason)
  else signal?.addEventListener('abort', onAbort)

  function send({ text, values, name }: Statement): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      if (lost) return reject(lost)
      onStatement?.(text)
      const timer = limitTime()
      abandon = reject
      const settle = (error: Error | null | undefined, result: QueryResult | QueryResult[]) => {
        clearTimeout(timer)
        abandon = undefined
        // A text of several statements has several results.
        if (!error) return resolve(Array.isArray(result) ? result.at(-1)! : result)
        const failure = toFailure(error)
        if (endsSession(failure)) giveUp(failure)
        reject(failure)
      }
      if (name === undefined) client.query(text, settle)
      else client.query(isPrepared && name ? { text, values, name } : { text, values }, settle)
    })
  }

  function limitTime(): NodeJS.Timeout | undefined {
    if (deadlineMs === Infinity) return undefined
    const leftMs = Math.max(0, deadlineMs - performance.now())
    return setTimeout(() => interrupt(new DatabaseUnavailable('The database did not answer in time.')), leftMs)
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last ? last.then(work) : work()
    last = result.catch(() => {})
    return result
  }

  return {
    run: (statement) => inTurn(() => send(statement)),
    borrow: (work) =>
      inTurn(async () => {
        if (lost) throw lost
        return work(client)
      }),
    giveUp,
    release() {
      signal?.removeEventListener('abort', onAbort)
      // The pool ends the connection, and with it whatever still runs there.
      if (cancelling) void cancelling.then(() => client.release(lost))
      else client.release(lost)
    },
  }
}
