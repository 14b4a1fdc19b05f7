import { t } from '@lingui/core/macro'
import { connectionBack, reportTrouble } from './connection.ts'
import { loadRejections } from './language/language.ts'
import { type Rejected, rejectionText } from './language/rejections.ts'
import type { Error as ErrorBody, FieldError, PageMeta } from './wire.ts'

const PREFIX = '/api/admin/v1'
const READ_TIMEOUT_MS = 20_000
/** A save may wait for an import or a lock; giving up early would leave it unclear whether it happened. */
const SAVE_TIMEOUT_MS = 120_000
/** A read waits for the connection between tries, so this is a bound on hours, not on seconds. */
const READ_TRIES_MAX = 500
const QUESTIONS_MAX = 5

/** An answer that says no. `message` is the service's own text, in English; `errorText` has that of the console. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly fieldErrors: FieldError[]
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined
  /** The whole body, for the few codes that carry more than the error. */
  readonly body: unknown

  constructor(status: number, body: Partial<ErrorBody>, retryAfterSeconds?: number) {
    super(body.error_description ?? t`The service could not do this.`)
    this.name = 'ApiError'
    this.status = status
    this.code = body.error ?? 'unknown'
    this.fieldErrors = body.errors ?? []
    this.requestId = body.request_id
    this.retryAfterSeconds = retryAfterSeconds
    this.body = body
  }
}

/** No answer. For a save it is not known whether it happened. */
export class ConnectionError extends Error {
  constructor(cause: unknown) {
    super(t`No connection to the service. Nothing you typed is lost; try again in a moment.`, { cause })
    this.name = 'ConnectionError'
  }
}

/** Something in the browser that did not work. `message` is written for people. */
export class UserError extends Error {}

export interface Page<Row, Meta = PageMeta> {
  data: Row[]
  meta: Meta
}

export type Query = Record<string, string | number | boolean | null | undefined>

interface Options {
  query?: Query | undefined
  signal?: AbortSignal | undefined
  /** Of what is changed, as it was read: the service rejects a change that is based on another. */
  version?: string | undefined
  /** Answer 401 with an error instead of the dialog: for the pages on which one is not signed in anyway. */
  signedOut?: boolean
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** `get`, `post`, … answer with what is under `data`; `page` keeps `meta` for lists. */
export const api = {
  get: <T>(path: string, options?: Options) => data<T>(send('GET', path, undefined, options)),
  page: <Row, Meta = PageMeta>(path: string, options?: Options) =>
    send('GET', path, undefined, options) as Promise<Page<Row, Meta>>,
  post: <T>(path: string, body: unknown = {}, options?: Options) => data<T>(send('POST', path, body, options)),
  patch: <T>(path: string, body: unknown, options?: Options) => data<T>(send('PATCH', path, body, options)),
  put: <T>(path: string, body: unknown, options?: Options) => data<T>(send('PUT', path, body, options)),
  delete: <T>(path: string, options?: Options) => data<T>(send('DELETE', path, undefined, options)),
}

async function data<T>(answer: Promise<unknown>): Promise<T> {
  return ((await answer) as { data: T }).data
}

/** The address of a call, for what the browser fetches itself (downloads). */
export function apiAddress(path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return `${PREFIX}${path}${text ? `?${text}` : ''}`
}

/** What happens outside a call, given once at the start: this file knows no React. */
interface Surroundings {
  /** The person whose page this is, once that is known. */
  shownAdmin: () => number | undefined
  /** Asks the person to sign in again; true when they did. */
  signInAgain: () => Promise<boolean>
  /** Asks the person to prove again that it is them; true when they did. */
  proveAgain: () => Promise<boolean>
  passwordChangeRequired: () => void
  secondFactorRequired: () => void
}

let surroundings: Surroundings = {
  shownAdmin: () => undefined,
  signInAgain: async () => false,
  proveAgain: async () => false,
  passwordChangeRequired: () => {},
  secondFactorRequired: () => {},
}

export function connectApi(given: Surroundings): void {
  surroundings = given
}

/** Says whose page it is: if somebody else has signed in meanwhile, the service answers as if the session had ended. */
export function personHeader(): Record<string, string> {
  const id = surroundings.shownAdmin()
  return id === undefined ? {} : { 'hourbank-admin': String(id) }
}

async function send(method: Method, path: string, body: unknown, options: Options = {}): Promise<unknown> {
  for (let asked = 0; ; asked++) {
    try {
      return await sendUntilConnected(method, path, body, options)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'password_change_required') surroundings.passwordChangeRequired()
      if (error.code === 'second_factor_required') surroundings.secondFactorRequired()
      const ask = options.signedOut || asked >= QUESTIONS_MAX ? undefined : questionFor(error)
      if (!ask || !(await ask())) throw error
    }
  }
}

/** What the person can do so that the same call succeeds. */
function questionFor({ code }: ApiError): (() => Promise<boolean>) | undefined {
  if (code === 'sign_in_required') return surroundings.signInAgain
  return code === 'proof_required' ? surroundings.proveAgain : undefined
}

/** Reads wait for the connection and try again; a save is sent once, because it may have happened. */
async function sendUntilConnected(method: Method, path: string, body: unknown, options: Options): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await sendOnce(method, path, body, options)
    } catch (error) {
      const trouble = troubleOf(error)
      if (!trouble) throw error
      reportTrouble(trouble)
      if (method !== 'GET' || tries >= READ_TRIES_MAX) throw error
      await connectionBack(options.signal)
    }
  }
}

function troubleOf(error: unknown): 'lost' | 'unavailable' | undefined {
  if (error instanceof ConnectionError) return 'lost'
  if (error instanceof ApiError && [502, 503, 504].includes(error.status)) return 'unavailable'
  return undefined
}

async function sendOnce(method: Method, path: string, body: unknown, options: Options): Promise<unknown> {
  const timeout = AbortSignal.timeout(method === 'GET' ? READ_TIMEOUT_MS : SAVE_TIMEOUT_MS)
  const request: RequestInit = {
    method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      ...personHeader(),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.version === undefined ? {} : { 'if-match': `"${options.version}"` }),
    },
    signal: options.signal ? AbortSignal.any([options.signal, timeout]) : timeout,
  }
  if (body !== undefined) request.body = JSON.stringify(body)
  let response: Response
  let text: string
  try {
    response = await fetch(apiAddress(path, options.query), request)
    text = await response.text()
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw new ConnectionError(error)
  }
  const answer = parse(text)
  if (!response.ok) {
    await loadRejections()
    throw new ApiError(response.status, answer ?? {}, retryAfter(response))
  }
  // A proxy in front that answers 200 with a page of its own must not pass for data.
  if (answer === undefined) throw new ConnectionError(new Error(`the answer to ${method} ${path} is not JSON`))
  return answer
}

function parse(text: string): Partial<ErrorBody> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) ? seconds : undefined
}

/** The id of a request that the service failed at, for its operator. A refusal says itself what to do. */
export function failedRequestId(error: unknown): string | undefined {
  return error instanceof ApiError && error.status >= 500 ? error.requestId : undefined
}

function rejectionOf({ code, message, body, fieldErrors }: ApiError): Rejected {
  const { reason, values } = body as Partial<ErrorBody>
  // Without a reason of its own, what is wrong is said of each field.
  if (reason === undefined && fieldErrors.length > 0) return { message, parts: fieldErrors }
  return { message, reason: reason ?? code, values }
}

/** One sentence for people about anything that was thrown. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) return rejectionText(rejectionOf(error))
  if ([ConnectionError, UserError].some((kind) => error instanceof kind)) return (error as Error).message
  return t`Something went wrong in the console itself. Reload the page and try again.`
}
