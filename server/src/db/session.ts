import type { PoolClient, QueryResult } from 'pg'
import { cancelStatement, endsSession, toFailure } from './client.ts'
import { DatabaseUnavailable } from './outage.ts'
import type { Statement } from './statement.ts'

export interface SessionOptions {
  isPrepared: boolean
  /** By performance.now(); what still runs then is ended together with the connection. */
  deadlineMs: number
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
  const { isPrepared, deadlineMs, onStatement } = options
  let lost: Error | undefined
  let cancelling: Promise<void> | undefined
  let last: Promise<unknown> | undefined

  function giveUp(reason: Error): void {
    lost ??= reason
  }

  function send({ text, values, name }: Statement): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      if (lost) return reject(lost)
      onStatement?.(text)
      const timer = limitTime(reject)
      const settle = (error: Error | null | undefined, result: QueryResult | QueryResult[]) => {
        clearTimeout(timer)
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

  function limitTime(reject: (reason: Error) => void): NodeJS.Timeout | undefined {
    if (deadlineMs === Infinity) return undefined
    return setTimeout(
      () => {
        giveUp(new DatabaseUnavailable('The database did not answer in time.'))
        cancelling = cancelStatement(client)
        reject(lost!)
      },
      Math.max(0, deadlineMs - performance.now()),
    )
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
      // The pool ends the connection, and with it whatever still runs there.
      if (cancelling) void cancelling.then(() => client.release(lost))
      else client.release(lost)
    },
  }
}
