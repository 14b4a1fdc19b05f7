import { ApiError, HourbankError } from './errors.ts'
import { fetchJson, within, type Fetch, type Request } from './fetch-json.ts'
import {
  isTransient,
  isWorthRepeating,
  RETRIES_MAX,
  TIMEOUT_MS_MAX,
  withRetries,
  type Clock,
  type Limits,
} from './retry.ts'
import { keepTokens } from './token.ts'

/** Prefix of all paths of the partner API. */
export const API_PREFIX = '/api/partner/v1'

/** Options of one call. Defaults are the client's options. */
export interface CallOptions {
  /** Ends the call, also during a pause between attempts. */
  signal?: AbortSignal | undefined
  /** Limit for each attempt, including reading the response. */
  timeoutMs?: number | undefined
  /** Limit for the whole call: token, attempts and the pauses between them. */
  totalTimeoutMs?: number | undefined
  /** How often to retry; 0 means never. Default: as often as `totalTimeoutMs` allows. */
  retries?: number | undefined
}

export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: Record<string, string | number | undefined>
  body?: object
  /** Idempotent: it is sent again when its response is lost. */
  repeatable: boolean
  /** 404 after a lost response means that it was carried out. */
  endsInNotFound?: boolean
}

/** Sends an operation and returns the body of a successful response. */
export type Send = (operation: Operation, options?: CallOptions) => Promise<Record<string, unknown>>

export interface Transport {
  send: Send
  revokeToken(options?: CallOptions): Promise<void>
  /** Rejects all later calls. */
  close(): void
}

/** The parameters that authenticate the client at the OAuth endpoints. */
export type Authenticate = () => Promise<Record<string, string>>

export interface TransportSettings {
  baseUrl: string
  authenticate: Authenticate
  /** Never shown in errors. */
  clientSecret: string | undefined
  scope: string | undefined
  fetch: Fetch
  clock: Clock
  limits: Limits
}

export function createTransport(settings: TransportSettings): Transport {
  const { authenticate, scope, fetch, clock, limits: defaults } = settings
  const clientSecrets = settings.clientSecret === undefined ? [] : [settings.clientSecret]
  const base = settings.baseUrl + API_PREFIX
  const issueMsMax = defaults.totalTimeoutMs + defaults.timeoutMs
  const tokens = keepTokens(issueToken, issueMsMax, clock.now)
  const closing = new AbortController()

  function issueToken() {
    const parameters = { grant_type: 'client_credentials', ...(scope && { scope }) }
    return sendCredentials('/oauth/token', parameters, { ...defaults, signal: closing.signal })
  }

  /** Both OAuth endpoints are idempotent. */
  function sendCredentials(path: string, parameters: Record<string, string>, limits: Limits) {
    return withRetries(limits, clock, isTransient, async (leftMs) => {
      // For each attempt, because an assertion is accepted only once, and its response may have been lost.
      const authentication = await authenticate()
      const { client_assertion: assertion } = authentication
      const request: Request = {
        name: `POST ${path}`,
        method: 'POST',
        url: base + path,
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify({ ...authentication, ...parameters }),
        secrets: [...clientSecrets, assertion, parameters.token].filter((secret) => secret !== undefined),
      }
      return sendOnce(request, limits, leftMs())
    })
  }

  function sendOnce(request: Request, { timeoutMs, signal }: Limits, leftMs: number) {
    return fetchJson(fetch, request, Math.min(timeoutMs, leftMs), signal, clock.now)
  }

  const send: Send = async (operation, options) => {
    const limits = readLimits(options, defaults)
    const { method, path, repeatable, endsInNotFound = false } = operation
    const name = `${method} ${path}`
    const url = base + path + queryText(operation.query)
    // Once for all attempts: changes that the caller makes to the object in the meantime must not change the credit.
    const body = operation.body === undefined ? undefined : JSON.stringify(operation.body)
    let hasToken = false
    let isRenewed = false

    async function sendWithToken(leftMs: () => number): Promise<Record<string, unknown>> {
      hasToken = false
      const token = await within(leftMs(), limits.signal, 'POST /oauth/token', () => tokens.current())
      hasToken = true
      const headers = {
        accept: 'application/json',
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      }
      const request: Request = { name, method, url, headers, body, secrets: [token, ...clientSecrets] }
      try {
        return await sendOnce(request, limits, leftMs())
      } catch (error) {
        if (!isRefusal(error, 'invalid_token')) throw error
        tokens.forget(token)
        if (isRenewed) throw error
        // 401 means that nothing was done, so even an operation that is not idempotent can be sent again.
        isRenewed = true
        return sendWithToken(leftMs)
      }
    }

    // Concurrent calls share one token request. If it times out, calls that joined late still have time left, unlike
    // the call that sent it. If the number of retries is limited, they are used up.
    const halfTimeMs = clock.now() + limits.totalTimeoutMs / 2
    const hasJoinedLate = () => defaults.retries === Infinity && clock.now() < halfTimeMs
    const isWorthIt = (error: unknown) =>
      hasToken ? isWorthRepeating(error, repeatable) : isTransient(error) && hasJoinedLate()
    return withRetries(limits, clock, isWorthIt, async (leftMs, failures) => {
      try {
        return await sendWithToken(leftMs)
      } catch (error) {
        if (endsInNotFound && failures > 0 && error instanceof ApiError && error.status === 404) return {}
        throw error
      }
    })
  }

  return {
    send,
    async revokeToken(options) {
      const limits = readLimits(options, defaults)
      const token = await within(limits.totalTimeoutMs, limits.signal, 'POST /oauth/revoke', () => tokens.giveUp())
      if (token !== undefined) await sendCredentials('/oauth/revoke', { token }, limits)
    },
    close() {
      tokens.close()
      // Otherwise the end would wait for a token that nobody needs any more.
      closing.abort()
    },
  }
}

/** Returns the `data` of a successful response. */
export async function sendForData<T extends object>(send: Send, operation: Operation, options?: CallOptions) {
  const body = await send(operation, options)
  return requireData<T>(body, `${operation.method} ${operation.path}`)
}

export function requireData<T extends object>({ data }: Record<string, unknown>, name: string): T {
  if (typeof data !== 'object' || data === null) {
    throw new HourbankError('invalid_response', `${name}: the response has no data`)
  }
  return data as T
}

/** Ids are part of paths, where '..' or 'a/b' would lead somewhere else. */
export function idText(id: number): string {
  if (Number.isSafeInteger(id)) return `${id}`
  throw new TypeError('An id is an integer.')
}

export function readLimits(options: CallOptions = {}, defaults: Limits): Limits {
  const { timeoutMs, totalTimeoutMs, retries, signal } = options
  return {
    timeoutMs: timeoutMs === undefined ? defaults.timeoutMs : requireWithin('timeoutMs', timeoutMs, 1, TIMEOUT_MS_MAX),
    totalTimeoutMs:
      totalTimeoutMs === undefined
        ? defaults.totalTimeoutMs
        : requireWithin('totalTimeoutMs', totalTimeoutMs, 1, TIMEOUT_MS_MAX),
    retries: retries === undefined ? defaults.retries : requireWithin('retries', retries, 0, RETRIES_MAX),
    signal,
  }
}

function requireWithin(name: string, value: number, min: number, max: number): number {
  if (value >= min && value <= max) return value
  throw new RangeError(`${name} must be between ${min} and ${max}.`)
}

function queryText(query: Operation['query'] = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, `${value}`)
  const text = `${parameters}`
  return text && `?${text}`
}

function isRefusal(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code
}
