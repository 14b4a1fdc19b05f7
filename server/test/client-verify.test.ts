import * as fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import {
  verifyWebhook,
  WebhookVerificationError,
  type HourbankEvent,
  type WebhookVerificationReason,
} from '../../client/src/index.ts'
import { EVENT_TYPES } from '../src/features/events/event-types.ts'
import { newWebhookSecret, signedHeaders, signingKey } from '../src/crypto/sign.ts'

const NOW = Date.parse('2026-01-31T09:00:00Z')
const clock = { now: () => NOW }
const ID = 'evt_6f1c2b34-0000-4000-8000-000000000001'
const BODY = JSON.stringify({
  type: 'user.left',
  timestamp: '2026-01-31T09:00:00Z',
  data: { id: 42, version: 3 },
})

/** Signed by the public library, which knows nothing of ours. */
function sign(body: string, secret: string, { id = ID, at = NOW } = {}) {
  const timestamp = new Date(at)
  return {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, timestamp, body),
  }
}

async function refusal(verification: Promise<HourbankEvent>): Promise<WebhookVerificationReason> {
  const error = await verification.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(WebhookVerificationError)
  return (error as WebhookVerificationError).reason
}

const Secret = fc
  .uint8Array({ minLength: 1, maxLength: 64 })
  .map((key) => `whsec_${Buffer.from(key).toString('base64')}`)
const Event = fc.record({ type: fc.string(), timestamp: fc.string(), data: fc.jsonValue() })

describe('a delivery that the public library signed', () => {
  test('is verified with any body and any secret', async () => {
    await fc.assert(
      fc.asyncProperty(Event, Secret, fc.uuid(), async (event, secret, id) => {
        const body = JSON.stringify(event)
        expect(await verifyWebhook(body, sign(body, secret, { id }), secret, clock)).toEqual({
          id,
          ...JSON.parse(body),
        })
      }),
    )
  })

  test('is rejected if its body, id, timestamp, signature or secret is changed', async () => {
    await fc.assert(
      fc.asyncProperty(
        Event,
        Secret,
        fc.constantFrom('body', 'id', 'timestamp', 'signature', 'secret'),
        fc.nat(),
        fc.nat({ max: 7 }),
        async (event, secret, part, at, bit) => {
          const body = Buffer.from(JSON.stringify(event))
          const headers = sign(`${body}`, secret)
          const flip = (bytes: Buffer) => {
            bytes[at % bytes.length]! ^= 1 << bit
            return bytes
          }
          const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
          const signature = Buffer.from(headers['webhook-signature'].slice('v1,'.length), 'base64')
          const forged = {
            body: () => verifyWebhook(flip(body), headers, secret, clock),
            id: () => verifyWebhook(body, { ...headers, 'webhook-id': `${headers['webhook-id']}${at}` }, secret, clock),
            timestamp: () => {
              const later = `${NOW / 1000 - 1 - (at % 299)}`
              return verifyWebhook(body, { ...headers, 'webhook-timestamp': later }, secret, clock)
            },
            signature: () => {
              const other = `v1,${flip(signature).toString('base64')}`
              return verifyWebhook(body, { ...headers, 'webhook-signature': other }, secret, clock)
            },
            secret: () => verifyWebhook(body, headers, `whsec_${flip(key).toString('base64')}`, clock),
          }
          expect(await refusal(forged[part]())).toBe('no_matching_signature')
        },
      ),
    )
  })

  test('is verified as text or bytes, with headers of every type', async () => {
    const secret = newWebhookSecret()
    const headers = sign(BODY, secret)
    const shouting = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
    const bytes = new TextEncoder().encode(BODY)
    const within = new Uint8Array(bytes.length + 2)
    within.set(bytes, 1)
    for (const body of [BODY, Buffer.from(BODY), bytes, bytes.buffer, within.subarray(1, -1)]) {
      for (const kind of [headers, new Headers(headers), shouting, lists, { ...headers, host: undefined }]) {
        const event = await verifyWebhook(body, kind, secret, clock)
        expect(event).toEqual({ id: ID, ...JSON.parse(BODY) })
      }
    }
  })
})

test('every event of the catalogue, signed by the server, is verified and returned unchanged', async () => {
  const secret = newWebhookSecret()
  for (const [type, { example }] of Object.entries(EVENT_TYPES)) {
    const body = JSON.stringify({ type, timestamp: '2026-01-31T09:00:00Z', data: example })
    const event = await verifyWebhook(body, signedHeaders(ID, new Date(NOW), body, [signingKey(secret)]), secret, clock)
    expect(event).toEqual({ id: ID, type, timestamp: '2026-01-31T09:00:00Z', data: example })
  }
})

/** Compiles only because each case knows what its data is. */
function describeEvent(event: HourbankEvent): string {
  switch (event.type) {
    case 'wallet.credited':
      return `${event.data.user_id} has ${event.data.balance_hours?.toFixed(2)}`
    case 'user.joined':
    case 'user.updated':
      return event.data.name
    case 'user.left':
      return `${event.data.id} left`
    case 'listing.published':
      return event.data.title
    case 'webhook.test':
      return `test of ${event.data.subscription_id}`
    case 'wallet.reversed':
    case 'wallet.balance_changed':
    case 'user.erased':
    case 'listing.updated':
    case 'listing.closed':
      return 'something else'
    default: {
      const type: string = event.type
      const data: unknown = event.data
      return `${type}: ${JSON.stringify(data)}`
    }
  }
}

test('the type of an event determines the type of its data; events of unknown types are returned as well', async () => {
  const secret = newWebhookSecret()
  const told = async (type: string, data: unknown) => {
    const body = JSON.stringify({ type, timestamp: '2026-01-31T09:00:00Z', data })
    return describeEvent(await verifyWebhook(body, sign(body, secret), secret, clock))
  }
  expect(await told('user.left', { id: 42, version: 3 })).toBe('42 left')
  expect(await told('wallet.credited', { user_id: 42, balance_hours: 1.5, version: 3 })).toBe('42 has 1.50')
  expect(await told('future.thing', ['any'])).toBe('future.thing: ["any"]')
})

describe('a delivery', () => {
  const secret = newWebhookSecret()
  const verifyAt = (seconds: number, toleranceSeconds?: number) =>
    verifyWebhook(BODY, sign(BODY, secret, { at: NOW + seconds * 1000 }), secret, { ...clock, toleranceSeconds })

  test('is accepted up to five minutes early or late, unless the receiver sets another tolerance', async () => {
    for (const seconds of [-300, -1, 0, 1, 300]) expect((await verifyAt(seconds)).id).toBe(ID)
    expect(await refusal(verifyAt(-301))).toBe('timestamp_too_old')
    expect(await refusal(verifyAt(301))).toBe('timestamp_too_new')
    expect((await verifyAt(-3600, 3600)).id).toBe(ID)
    expect(await refusal(verifyAt(-2, 1))).toBe('timestamp_too_old')
    expect(await refusal(verifyAt(0, Number.NaN))).toBe('timestamp_too_old')
  })

  test('is checked against the system clock by default', async () => {
    expect((await verifyWebhook(BODY, sign(BODY, secret, { at: Date.now() }), secret)).id).toBe(ID)
    expect(await refusal(verifyWebhook(BODY, sign(BODY, secret, { at: Date.now() - 400_000 }), secret))).toBe(
      'timestamp_too_old',
    )
  })

  test('without a header or with an invalid timestamp is rejected', async () => {
    const headers: Record<string, string> = sign(BODY, secret)
    for (const name of Object.keys(headers)) {
      for (const missing of [undefined, '', []]) {
        expect(await refusal(verifyWebhook(BODY, { ...headers, [name]: missing }, secret, clock))).toBe(
          'missing_header',
        )
      }
      const rest = new Headers(headers)
      rest.delete(name)
      expect(await refusal(verifyWebhook(BODY, rest, secret, clock))).toBe('missing_header')
    }
    for (const time of ['now', '-1', '1e9', '1769850000.5', ' ', '9'.repeat(30), '2026-01-31T09:00:00Z']) {
      const reason = await refusal(verifyWebhook(BODY, { ...headers, 'webhook-timestamp': time }, secret, clock))
      expect(reason).toBe('invalid_timestamp')
    }
  })

  test('is verified if one of its signatures matches one of the secrets, as during a rotation', async () => {
    const [old, fresh, other] = [secret, newWebhookSecret(), newWebhookSecret()]
    const both = signedHeaders(ID, new Date(NOW), BODY, [fresh, old].map(signingKey))
    for (const secrets of [old, fresh, [other, old], [fresh, other], [fresh, old]]) {
      expect((await verifyWebhook(BODY, both, secrets, clock)).id).toBe(ID)
    }
    expect(await refusal(verifyWebhook(BODY, both, other, clock))).toBe('no_matching_signature')
    expect(await refusal(verifyWebhook(BODY, both, [], clock))).toBe('no_matching_signature')
    // As Node joins a header that came twice.
    const [one, two] = both['webhook-signature']!.split(' ')
    const joined = { ...both, 'webhook-signature': `${one}, ${two}` }
    expect((await verifyWebhook(BODY, joined, old, clock)).id).toBe(ID)
  })

  test('with malformed signatures or those of another version is rejected', async () => {
    const headers = sign(BODY, secret)
    const good = headers['webhook-signature'].slice('v1,'.length)
    const signedWith = (signature: string) =>
      verifyWebhook(BODY, { ...headers, 'webhook-signature': signature }, secret, clock)
    for (const bad of [
      good,
      `v2,${good}`,
      `v1a,${good}`,
      `v1,`,
      'v1',
      'v1,***',
      `v1,${good.slice(0, -4)}`,
      ',',
      'v1,AA==',
    ]) {
      expect(await refusal(signedWith(bad))).toBe('no_matching_signature')
    }
    expect((await signedWith(`v1a,${good} v1,*** v1,${good}`)).id).toBe(ID)
    // A stranger who sends ever more of them does not make us compute ever more.
    expect(await refusal(signedWith(`${'v1,AA== '.repeat(20)}v1,${good}`))).toBe('no_matching_signature')
  })

  test('is rejected with a random signature', async () => {
    for (let n = 0; n < 50; n++) {
      const signature = `v1,${randomBytes(32).toString('base64')}`
      const headers = { ...sign(BODY, secret), 'webhook-signature': signature }
      expect(await refusal(verifyWebhook(BODY, headers, secret, clock))).toBe('no_matching_signature')
    }
  })

  test('with a parsed body is rejected with a reason of its own', async () => {
    expect(await refusal(verifyWebhook(JSON.parse(BODY), sign(BODY, secret), secret, clock))).toBe('body_not_raw')
    expect(await refusal(verifyWebhook(undefined as never, sign(BODY, secret), secret, clock))).toBe('body_not_raw')
  })

  test('with a valid signature but no event in its body is rejected with a reason of its own', async () => {
    const bodies = ['', 'null', '5', '[]', '{}', '{"type":"a"}', '{"type":1,"timestamp":"","data":{}}', '{"type":"a"']
    for (const body of bodies) {
      expect(await refusal(verifyWebhook(body, sign(body, secret), secret, clock))).toBe('malformed_body')
    }
  })

  test('is rejected if a secret is invalid, and the error does not contain the secret', async () => {
    for (const wrong of ['', 'whsec_', 'whsec_not base64!', 'whsec_ä', undefined as never, 5 as never]) {
      const verification = verifyWebhook(BODY, sign(BODY, secret), [secret, wrong], clock)
      expect(await refusal(verification)).toBe('invalid_secret')
      expect(inspect(await verification.catch((error: unknown) => error))).not.toContain('not base64!')
    }
  })
})
