import type { Hourbank } from './client.ts'
import { ApiError, HourbankError } from './errors.ts'
import { TIMEOUT_MS_MAX, waitFor } from './retry.ts'
import type { HourbankEvent } from './types.ts'

const SECRET_BYTES = 32
const SECRET_PREFIX = 'whsec_'
const POLL_MS_DEFAULT = 1_000
/** As long as a receiver has for a real delivery. */
const FORWARD_TIMEOUT_MS = 15_000
/** How long to wait for a receiver or a service that is away. */
const RETRY_MS = 1_000
/** Soon enough to tell a developer what is wrong, and longer than the service takes to respond. */
export const READ_TIMEOUT_MS = 15_000
/** A proxy in front of a receiver that restarts; anything else is the receiver's own answer. */
const AWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])
/** The place in the feed is lost: it was too old, or the service was restored from a backup. */
const LOST_PLACE = new Set(['cursor_expired', 'resync_required'])

export interface ListenOptions {
  /** Where to post the events, such as http://localhost:3000/hooks */
  forwardTo: string
  /** Signs the events: `createWebhookSecret()`, or the one that your receiver already has. */
  secret: string
  /** Also forward the events of the last 30 days, not only those from now on. */
  includePast?: boolean | undefined
  /** Called once, when every later event will be forwarded. */
  onReady?: (() => void) | undefined
  /** Called for each event, with the status of the receiver's response. */
  onForwarded?: ((event: HourbankEvent, status: number) => void) | undefined
  /** Called when the service or the receiver is away, and again with `undefined` when it is back. */
  onTrouble?: ((message: string | undefined) => void) | undefined
  /** How often to ask for new events; every second when omitted. */
  pollMs?: number | undefined
  /** Ends listening. */
  signal?: AbortSignal | undefined
}

export function createWebhookSecret(): string {
  return SECRET_PREFIX + toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
}

/**
 * Follows the feed of events and posts each one, signed like a webhook, to an address that the service itself could not
 * reach, such as your own machine. Waits for a service or a receiver that is away, and continues where it was. Runs
 * until the signal aborts, or until the service rejects the credentials.
 */
export async function listen(hourbank: Pick<Hourbank, 'events'>, options: ListenOptions): Promise<void> {
  const { forwardTo, includePast = false, onReady, onForwarded, pollMs = POLL_MS_DEFAULT, signal } = options
  // Without a scheme, `localhost:` would be taken for one.
  if (!URL.canParse(forwardTo) || !/^https?:$/.test(new URL(forwardTo).protocol)) {
    throw new TypeError('forwardTo must be an address, such as http://localhost:3000/hooks')
  }
  const key = await importSecret(options.secret)
  const untilBack = waiter(options)
  const readPage = (cursor: string | undefined) =>
    hourbank.events.list(
      { limit: 100, ...(cursor !== undefined && { cursor }) },
      { signal, totalTimeoutMs: READ_TIMEOUT_MS },
    )
  let cursor: string | undefined
  let isForwarding = includePast

  try {
    if (isForwarding) onReady?.()
    for (;;) {
      const page = await untilBack(
        () => readPage(cursor),
        isServiceAway,
        () => (cursor = undefined),
      )
      for (const event of isForwarding ? page.data : []) {
        const status = await untilBack(() => forward(forwardTo, key, event, signal), isReceiverAway)
        onForwarded?.(event, status)
      }
      cursor = page.meta.next_cursor ?? cursor
      if (page.meta.has_more) continue
      if (!isForwarding) onReady?.()
      isForwarding = true
      await waitFor(pollMs, signal)
    }
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}

/** The receiver could not be asked, or something in front of it answered. */
class ReceiverAway extends Error {}

const isReceiverAway = (error: unknown) => error instanceof ReceiverAway

function isServiceAway(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429 || LOST_PLACE.has(error.code)
  return error instanceof HourbankError && error.kind !== 'closed' && error.kind !== 'aborted'
}

/** Repeats the work until it succeeds or fails for good, and reports trouble once. */
function waiter({ onTrouble, signal }: ListenOptions) {
  let isTroubled = false
  return async function untilBack<T>(
    work: () => Promise<T>,
    isAway: (error: unknown) => boolean,
    onLostPlace?: () => void,
  ): Promise<T> {
    for (;;) {
      try {
        const result = await work()
        if (isTroubled) onTrouble?.(undefined)
        isTroubled = false
        return result
      } catch (error) {
        if (signal?.aborted || !isAway(error)) throw error
        if (error instanceof ApiError && LOST_PLACE.has(error.code)) onLostPlace?.()
        if (!isTroubled) onTrouble?.((error as Error).message)
        isTroubled = true
        // It may ask for a longer pause than a call takes.
        const askedMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
        await waitFor(Math.min(Math.max(RETRY_MS, askedMs), TIMEOUT_MS_MAX), signal)
      }
    }
  }
}

async function forward(
  url: string,
  key: SigningKey,
  { id, type, timestamp, data }: HourbankEvent,
  signal: AbortSignal | undefined,
): Promise<number> {
  const body = JSON.stringify({ type, timestamp, data })
  // For each attempt: a receiver rejects a signature that is too old.
  const headers = await signedHeaders(id, body, key)
  const limits = [AbortSignal.timeout(FORWARD_TIMEOUT_MS), ...(signal ? [signal] : [])]
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any(limits),
    })
    await response.body?.cancel()
    if (AWAY_STATUSES.has(response.status)) throw new ReceiverAway(`The receiver responds with ${response.status}.`)
    return response.status
  } catch (error) {
    if (error instanceof ReceiverAway) throw error
    throw new ReceiverAway(`The receiver at ${url} does not respond.`, { cause: error })
  }
}

async function signedHeaders(id: string, body: string, key: SigningKey): Promise<Record<string, string>> {
  const timestamp = `${Math.floor(Date.now() / 1000)}`
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const signature = toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, content)))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
    'content-type': 'application/json',
  }
}

type SigningKey = Awaited<ReturnType<typeof importSecret>>

async function importSecret(secret: string) {
  try {
    const bytes = Uint8Array.from(atob(secret.slice(SECRET_PREFIX.length)), (character) => character.charCodeAt(0))
    if (!secret.startsWith(SECRET_PREFIX) || bytes.length === 0) throw new Error('not a secret')
    return await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  } catch {
    throw new TypeError(`A secret is ${SECRET_PREFIX} and base64.`)
  }
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}
