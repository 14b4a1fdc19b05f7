import { aborted, onAbort } from './abort.ts'
import { ApiError, HourbankError, type Refusal } from './errors.ts'
import { readRetryAfter } from './retry.ts'
import type { FieldError } from './types.ts'

/** Far above the largest page (100 deliveries with ten attempts each, and 1,000 characters of each response). */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024
/** Shorter secrets could be part of ordinary words. */
const REDACTED_LENGTH_MIN = 8

/** The part of the platform's `fetch` that the SDK uses. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>

export interface FetchInit {
  method: string
  headers: Record<string, string>
  body?: string
  redirect: 'manual'
  signal: AbortSignal
}

export interface FetchResponse {
  status: number
  headers: { get(name: string): string | null }
  body: { getReader(): BodyReader } | null
}

export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

export interface Request {
  /** For messages: method and path, without the query, which may contain personal data. */
  name: string
  method: string
  url: string
  headers: Record<string, string>
  body: string | undefined
  /** Never shown in errors. */
  secrets: string[]
}

/** One attempt: sends, reads and parses within the limit. Returns the JSON object of a successful response. */
export async function fetchJson(
  fetch: Fetch,
  request: Request,
  limitMs: number,
  signal: AbortSignal | undefined,
  now: () => number,
): Promise<Record<string, unknown>> {
  const { name, method, url, headers, body, secrets } = request
  return within(limitMs, signal, name, async (limit) => {
    const { response, text } = await sendAndRead()
    if (response.status >= 200 && response.status < 300) return readSuccess(name, response.status, text)
    throw new ApiError(name, readRefusal(response, redact(text, secrets), now()))

    async function sendAndRead() {
      try {
        // Redirects are not followed: they must never take a secret or a credit to another host.
        const init = {
          method,
          headers,
          redirect: 'manual',
          signal: limit,
          ...(body !== undefined && { body }),
        } as const
        const answer = await fetch(url, init)
        return { response: answer, text: await readText(answer, name) }
      } catch (cause) {
        if (cause instanceof HourbankError) throw cause
        throw new HourbankError('network', `${name}: no response${detailOf(cause)}`, { cause })
      }
    }
  })
}

/** Ends at the limit or with the caller's signal, whatever the work does. The work gets a signal of its own. */
export async function within<T>(
  limitMs: number,
  signal: AbortSignal | undefined,
  name: string,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  if (signal?.aborted) throw aborted(signal)
  const controller = new AbortController()
  const { promise: stopped, reject } = rejectable()
  const stop = (error: HourbankError) => {
    // Reject first, then abort: otherwise the work's own AbortError would be reported.
    reject(error)
    controller.abort(error)
  }
  const onTimeout = () => stop(new HourbankError('timeout', `${name}: no response within ${Math.round(limitMs)} ms`))
  const timer = setTimeout(onTimeout, Math.max(0, limitMs))
  const leave = onAbort(signal, () => stop(aborted(signal)))
  try {
    return await Promise.race([work(controller.signal), stopped])
  } finally {
    clearTimeout(timer)
    leave()
  }
}

function rejectable() {
  let reject!: (error: unknown) => void
  const promise = new Promise<never>((_resolve, refuse) => {
    reject = refuse
  })
  return { promise, reject }
}

async function readText({ body }: FetchResponse, name: string): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value?.byteLength ?? 0
    if (bytes > RESPONSE_BYTES_MAX) {
      // Not awaited: cancelling a stream that hangs may hang too.
      void reader.cancel().catch(() => undefined)
      throw new HourbankError('invalid_response', `${name}: the response is larger than ${RESPONSE_BYTES_MAX} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

function readSuccess(name: string, status: number, text: string): Record<string, unknown> {
  const body = parseObject(text)
  if (body) return body
  throw new HourbankError('invalid_response', `${name}: ${status}, but the response is not a JSON object`)
}

function readRefusal({ status, headers }: FetchResponse, text: string, nowMs: number): Refusal {
  const body = parseObject(text) ?? {}
  const isOurs = typeof body.error === 'string'
  return {
    status,
    code: isOurs ? (body.error as string) : `http_${status}`,
    description:
      typeof body.error_description === 'string' ? body.error_description : 'The response is not one of the service.',
    errors: Array.isArray(body.errors) ? body.errors.filter(isFieldError) : [],
    requestId: typeof body.request_id === 'string' ? body.request_id : (headers.get('request-id') ?? undefined),
    data: body.data,
    retryAfterSeconds: readRetryAfter(headers.get('retry-after'), headers.get('date'), nowMs),
    requiredScopes: readRequiredScopes(headers.get('www-authenticate')),
  }
}

/** RFC 6750 3: the challenge names the scope, and only the challenge. */
function readRequiredScopes(challenge: string | null): string[] {
  const [, scopes] = /error="insufficient_scope".*\bscope="([^"]*)"/.exec(challenge ?? '') ?? []
  return scopes?.split(' ').filter(Boolean) ?? []
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isFieldError(value: unknown): value is FieldError {
  return isObject(value) && [value.code, value.field, value.message].every((part) => typeof part === 'string')
}

/** A response may repeat what was sent, and errors end up in logs. */
function redact(text: string, secrets: string[]): string {
  return secrets
    .filter((secret) => secret.length >= REDACTED_LENGTH_MIN)
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}

/** Node hides the code (ECONNREFUSED, …) in the cause of the cause. */
function detailOf(cause: unknown): string {
  const code = isObject(cause) && isObject(cause.cause) ? cause.cause.code : undefined
  return typeof code === 'string' ? ` (${code})` : ''
}
