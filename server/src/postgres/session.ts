import type { PoolClient, QueryResult } from 'pg'
import { cancelStatement, endsSession, toFailure } from './client.ts'
import { traced, tracing, type Attributes } from '../core/tracing.ts'
import { DatabaseUnavailable } from './outage.ts'
import type { Statement } from './statement.ts'

/** Enough to recognize a statement; the longest has 8,000. */
const TRACED_TEXT_LENGTH_MAX = 1000

export interface SessionOptions {
  isPrepared: boolean
  /** On the performance.now() clock; a statement still running then is cancelled and the connection closed. */
  deadlineMs: number
  /** Aborting it has the same effect as the deadline. */
  signal: AbortSignal | undefined
  onStatement: ((text: string) => void) | undefined
}

/** One connection, checked out of the pool for one statement or one transaction. */
export interface Session {
  /** Runs statements one after another. Once the connection is lost, further statements are rejected. */
  run(statement: Statement): Promise<QueryResult>
  /** For COPY, which needs the connection itself. */
  borrow<T>(work: (client: PoolClient) => Promise<T>): Promise<T>
  /** Makes `release` close the connection and rejects further statements. */
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

  /** Cancels the statement in flight and rejects it immediately. */
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
      const timer = startDeadlineTimer()
      abandon = reject
      const settle = (error: Error | null | undefined, result: QueryResult | QueryResult[]) => {
        clearTimeout(timer)
        abandon = undefined
        // A text with several statements has several results.
        if (!error) return resolve(Array.isArray(result) ? result.at(-1)! : result)
        const failure = toFailure(error)
        if (endsSession(failure)) giveUp(failure)
        reject(failure)
      }
      if (name === undefined) client.query(text, settle)
      else client.query(isPrepared && name ? { text, values, name } : { text, values }, settle)
    })
  }

  function sendTraced(statement: Statement): Promise<QueryResult> {
    return traced(spanName(statement), { kind: 'client', attributes: describe(statement) }, () => send(statement))
  }

  function startDeadlineTimer(): NodeJS.Timeout | undefined {
    if (deadlineMs === Infinity) return undefined
    const leftMs = Math.max(0, deadlineMs - performance.now())
    return setTimeout(() => interrupt(new DatabaseUnavailable('The database did not answer in time.')), leftMs)
  }

  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = last ? last.then(work) : work()
    last = result.catch(() => {})
    return result
  }

  return {
    run: (statement) => enqueue(() => (tracing ? sendTraced(statement) : send(statement))),
    borrow: (work) =>
      enqueue(async () => {
        if (lost) throw lost
        return work(client)
      }),
    giveUp,
    release() {
      signal?.removeEventListener('abort', onAbort)
      // Given a reason, the pool closes the connection, which ends any statement still running on it.
      if (cancelling) void cancelling.then(() => client.release(lost))
      else client.release(lost)
    },
  }
}

/** The first word: `select`, `with`, `begin`. */
function spanName({ text }: Statement): string {
  return /[a-z]+/i.exec(text)?.[0].toLowerCase() ?? 'statement'
}

/** Prepared statements have their values apart. The text of others may contain values, and is left out. */
function describe({ text, name }: Statement): Attributes {
  return {
    'db.system.name': 'postgresql',
    'db.query.text': name === undefined ? undefined : text.trim().slice(0, TRACED_TEXT_LENGTH_MAX),
  }
}
