import { Agent } from 'undici'
import { guardedLookup, requireReachable, type Resolve } from '../outbound/addresses.ts'
import { createExchanger, type Answer, type Target } from '../outbound/exchange.ts'

const ANSWER_BYTES_MAX = 16 * 1024
/** Stored for every delivery that arrives, so enough for an id or a short message. A failure needs its reason. */
const SUCCESS_ANSWER_BYTES_MAX = 1024
const TIMEOUT_MS = 15_000
/**
 * As many as the worker can have in flight: many partners share a host (a gateway, an automation service), and what waited
 * here for a connection would look like a slow receiver. What one receiver has to bear is limited per subscription.
 */
const CONNECTIONS_PER_HOST_MAX = 1024
const KEEP_ALIVE_MS = 10_000
/** A connection that is always in use would be kept for days, also to the former address of a receiver that has moved. */
const CONNECTION_AGE_MAX_MS = 5 * 60_000
const ERROR_LENGTH_MAX = 500
/** Parsed addresses in the cache; every delivery needs that of its receiver. */
const TARGETS_MAX = 1000

export type ErrorKind = 'dns' | 'connect' | 'tls' | 'timeout' | 'status' | 'refused_address'

/** What came of one attempt. */
export interface Outcome {
  ok: boolean
  status: number | undefined
  errorKind: ErrorKind | undefined
  error: string | undefined
  /** The beginning of the answer. */
  response: string | undefined
  retryAfter: string | undefined
  durationMs: number
}

/** Aborted by us, so it does not count as a failed attempt. */
export class SenderClosed extends Error {}

export interface Sender {
  /** @throws SenderClosed when it was closed meanwhile. */
  send(target: string, headers: Record<string, string>, body: string): Promise<Outcome>
  /** Aborts requests in flight. */
  close(): Promise<void>
}

export interface SenderOptions {
  resolve: Resolve
  allowPrivateTargets: boolean
  /** Certificates to trust beside the system's. */
  ca?: string | undefined
  timeoutMs?: number
  connectionAgeMaxMs?: number
}

export function createSender({
  resolve,
  allowPrivateTargets,
  ca,
  timeoutMs = TIMEOUT_MS,
  connectionAgeMaxMs = CONNECTION_AGE_MAX_MS,
}: SenderOptions): Sender {
  const agent = new Agent({
    connections: CONNECTIONS_PER_HOST_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A receiver must not talk us into keeping an idle connection any longer.
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    clientTtl: connectionAgeMaxMs,
    connect: { lookup: guardedLookup(resolve, allowPrivateTargets), timeout: timeoutMs, ...(ca && { ca }) },
  })
  const exchanger = createExchanger(agent, { timeoutMs, bytesMax: ANSWER_BYTES_MAX })
  const targets = new Map<string, Target>()
  let isClosed = false

  /** @throws when it is an address that must not be reached. */
  function targetOf(text: string): Target {
    const known = targets.get(text)
    if (known) return known
    const url = new URL(text)
    requireReachable(url, allowPrivateTargets)
    if (targets.size >= TARGETS_MAX) targets.clear()
    const target = { origin: url.origin, path: url.pathname + url.search }
    targets.set(text, target)
    return target
  }

  function send(target: string, headers: Record<string, string>, body: string): Promise<Outcome> {
    const startedAt = performance.now()
    return new Promise((settle, fail) => {
      const answered = (answer: Answer | undefined, error: unknown) => {
        const durationMs = Math.round(performance.now() - startedAt)
        if (answer) settle(outcomeOf(answer, durationMs))
        else if (isClosed) fail(new SenderClosed('closed while sending', { cause: error }))
        else settle(failure(error, durationMs))
      }
      try {
        // Redirects are not followed: the receiver that was subscribed is the one that gets it.
        exchanger.post(targetOf(target), headers, body, answered)
      } catch (error) {
        answered(undefined, error)
      }
    })
  }

  return {
    send,
    async close() {
      isClosed = true
      await exchanger.close()
    },
  }
}

function outcomeOf({ status, retryAfter, beginning }: Answer, durationMs: number): Outcome {
  const ok = status >= 200 && status < 300
  const kept = ok ? beginning.subarray(0, SUCCESS_ANSWER_BYTES_MAX) : beginning
  return {
    ok,
    status,
    errorKind: ok ? undefined : 'status',
    error: ok ? undefined : `answered ${status}`,
    // Half a character at the cut is replaced.
    response: kept.length > 0 ? storable(kept.toString('utf8')) : '',
    retryAfter,
    durationMs,
  }
}

function failure(error: unknown, durationMs: number): Outcome {
  return {
    ok: false,
    status: undefined,
    errorKind: kindOf(error),
    error: storable(explain(error).slice(0, ERROR_LENGTH_MAX)),
    response: undefined,
    retryAfter: undefined,
    durationMs,
  }
}

/** PostgreSQL refuses the zero character, and half a character within JSON. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

const DNS_CODES = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EREFUSED)/
const TIMEOUT_CODES = /TIMEOUT|ETIMEDOUT/
const TLS_CODES = /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_|INVALID_|PATH_LENGTH)/

function kindOf(error: unknown): ErrorKind {
  const { code = '', name } = error as { code?: string; name?: string }
  if (code === 'REFUSED_ADDRESS') return 'refused_address'
  if (name === 'TimeoutError' || TIMEOUT_CODES.test(code)) return 'timeout'
  if (DNS_CODES.test(code)) return 'dns'
  return TLS_CODES.test(code) ? 'tls' : 'connect'
}

function explain(error: unknown): string {
  // A name with several addresses fails once for each, and the whole has no message of its own.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(explain).join('; ')
  const { code, message, syscall } = error as { code?: string; message: string; syscall?: string }
  // Partners read this, and are not told what names in our network lead to.
  if (syscall === 'connect' && code) return `${code}: the connection failed`
  return code && !message.includes(code) ? `${code}: ${message}` : message
}
