import { WebhookVerificationError } from './errors.ts'
import { isObject } from './fetch-json.ts'
import type { HourbankEvent } from './types.ts'

const TOLERANCE_SECONDS_DEFAULT = 5 * 60
/** A rotation needs two. More would only let strangers waste our CPU time. */
const SIGNATURES_MAX = 20
const SECRET_PREFIX = 'whsec_'
const VERSION = 'v1'

/** `Headers`, the headers of a Node.js request, or a record of them. Names are case-insensitive. */
export type WebhookHeaders =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** How far the timestamp of a delivery may be in the past or future. Default: 5 minutes. */
  toleranceSeconds?: number | undefined
  /** Replaces the clock (time in milliseconds), for tests. */
  now?: (() => number) | undefined
}

/**
 * Verifies a delivery by the Standard Webhooks specification and returns its event. `body` is the body exactly as
 * received: text or bytes, not parsed. During a rotation pass both secrets; one of them has to match.
 *
 * Throws a `WebhookVerificationError` if the delivery is not authentic. Delivery is at least once: an event whose `id`
 * you have seen before is the same event.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS_DEFAULT, now = Date.now }: VerifyOptions = {},
): Promise<HourbankEvent> {
  const bytes = toBytes(body)
  const id = requireHeader(headers, 'webhook-id')
  const timestamp = requireHeader(headers, 'webhook-timestamp')
  const signatures = readSignatures(requireHeader(headers, 'webhook-signature'))
  checkTimestamp(timestamp, toleranceSeconds, now())
  const content = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  const keys = await Promise.all([secrets].flat().map(importSecret))
  for (const key of keys) {
    for (const signature of signatures) {
      // Compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, content)) return readEvent(id, bytes)
    }
  }
  throw new WebhookVerificationError('no_matching_signature', 'No signature fits the body and the secrets.')
}

function toBytes(body: string | Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  // A copy, because Web Crypto does not accept shared memory.
  if (body instanceof Uint8Array) return new Uint8Array(body)
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new WebhookVerificationError('body_not_raw', 'Pass the body as it came, as text or bytes, not parsed.')
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = findHeader(headers, name)
  if (value) return value
  throw new WebhookVerificationError('missing_header', `The header ${name} is missing.`)
}

function findHeader(headers: WebhookHeaders, name: string): string | null {
  if (isHeaders(headers)) return headers.get(name)
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return [value ?? ''].flat().join(' ')
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}

function checkTimestamp(text: string, toleranceSeconds: number, nowMs: number): void {
  if (!/^\d{1,15}$/.test(text)) {
    throw new WebhookVerificationError('invalid_timestamp', 'The header webhook-timestamp is not a number of seconds.')
  }
  const ageSeconds = Math.floor(nowMs / 1000) - Number(text)
  // Written so that a tolerance of NaN admits nothing.
  if (!(ageSeconds <= toleranceSeconds)) {
    throw new WebhookVerificationError('timestamp_too_old', `The delivery is ${ageSeconds} seconds old.`)
  }
  if (!(-ageSeconds <= toleranceSeconds)) {
    throw new WebhookVerificationError('timestamp_too_new', `The delivery is from ${-ageSeconds} seconds ahead.`)
  }
}

/** Other versions are ignored. */
function readSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ')
    .slice(0, SIGNATURES_MAX)
    .map((signature) => signature.split(','))
    .filter(([version]) => version === VERSION)
    .flatMap(([, text]) => fromBase64(text ?? '') ?? [])
}

async function importSecret(secret: string) {
  const isText = typeof secret === 'string'
  const key = isText ? fromBase64(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret) : null
  if (!key || key.length === 0) {
    throw new WebhookVerificationError('invalid_secret', `A secret is ${SECRET_PREFIX} and base64.`)
  }
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

function readEvent(id: string, bytes: Uint8Array): HourbankEvent {
  const body = parseJson(bytes)
  if (!isObject(body) || typeof body.type !== 'string' || typeof body.timestamp !== 'string' || !('data' in body)) {
    throw new WebhookVerificationError('malformed_body', 'The body is signed, but it is not an event.')
  }
  const { type, timestamp, data } = body
  return { id, type, timestamp, data } as HourbankEvent
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
