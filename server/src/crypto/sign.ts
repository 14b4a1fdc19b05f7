import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'

const SECRET_BYTES = 32
const PREFIX = 'whsec_'

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

export function signingKey(secret: string): KeyObject {
  return createSecretKey(secret.slice(PREFIX.length), 'base64')
}

/** Returns all headers of a delivery (Standard Webhooks). During a secret rotation it carries one signature per key. */
export function signedHeaders(id: string, at: Date, body: string, keys: KeyObject[]): Record<string, string> {
  const timestamp = `${Math.floor(at.getTime() / 1000)}`
  const signatures = keys.map((key) => {
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
    'content-type': 'application/json',
    'user-agent': 'Hourbank-Webhooks/1',
  }
}
