import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { expect } from 'vitest'
import type { TestAdmin } from './admin.ts'
import type { Answer, Bank } from './bank.ts'

/** User present and user verified. */
const FLAGS = 0x05
const WITH_KEY = 0x40
const AAGUID = Buffer.alloc(16)

/** What a dishonest authenticator or page changes. */
export interface Lies {
  challenge?: string
  origin?: string
  rpId?: string
  counter?: number
  key?: KeyObject
  type?: string
}

/** An authenticator in software: one P-256 key, one counter. */
export interface TestPasskey {
  id: string
  create(options: Options, lies?: Lies): object
  sign(options: Options, lies?: Lies): object
}

interface Options {
  challenge: string
  rpId?: string
  rp?: { id: string }
}

export function newPasskey(origin: string): TestPasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  let count = 0

  function clientData(type: string, { challenge }: Options, lies: Lies): Buffer {
    const data = { type: lies.type ?? type, challenge: lies.challenge ?? challenge, origin: lies.origin ?? origin }
    return Buffer.from(JSON.stringify({ ...data, crossOrigin: false }))
  }

  function authenticatorData({ rpId, rp }: Options, lies: Lies, key?: Buffer): Buffer {
    const site = lies.rpId ?? rpId ?? rp!.id
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(lies.counter ?? ++count)
    const flags = Buffer.from([key ? FLAGS | WITH_KEY : FLAGS])
    return Buffer.concat([createHash('sha256').update(site).digest(), flags, counter, key ?? Buffer.alloc(0)])
  }

  const credential = (response: Record<string, Buffer>) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response: Object.fromEntries(Object.entries(response).map(([name, value]) => [name, value.toString('base64url')])),
  })

  return {
    id: id.toString('base64url'),
    create(options, lies = {}) {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const key = Buffer.concat([AAGUID, length, id, coseKey(publicKey)])
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.from([0xa0]),
        cborText('authData'),
        cborBytes(authenticatorData(options, lies, key)),
      ])
      return credential({ clientDataJSON: clientData('webauthn.create', options, lies), attestationObject })
    },
    sign(options, lies = {}) {
      const clientDataJSON = clientData('webauthn.get', options, lies)
      const data = authenticatorData(options, lies)
      const signed = Buffer.concat([data, createHash('sha256').update(clientDataJSON).digest()])
      const signature = sign('sha256', signed, lies.key ?? privateKey)
      return credential({ clientDataJSON, authenticatorData: data, signature })
    },
  }
}

/** RFC 8949: text and bytes shorter than 65,536. */
function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
}

function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x59, bytes.length >> 8, bytes.length & 0xff]), bytes])
}

function coordinate(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, 'base64url')])
}

/** RFC 9053 7.1.1: {1: 2, 3: -7, -1: 1, -2: x, -3: y}. */
function coseKey(key: KeyObject): Buffer {
  const { x, y } = key.export({ format: 'jwk' })
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21])
  return Buffer.concat([head, coordinate(x!), Buffer.from([0x22]), coordinate(y!)])
}

/** The same service under a name: there are no passkeys for addresses. */
export function named(bank: Bank): Bank {
  return { ...bank, url: bank.url.replace('127.0.0.1', 'localhost') }
}

export async function optionsFor(
  browser: Pick<TestAdmin, 'call'>,
  what: '/second-factor' | '/session/second-factor' | '/session/proof',
): Promise<Options> {
  const { status, body } = await browser.call(`${what}/passkey-options`, { method: 'POST' })
  expect(status).toBe(201)
  return body.data
}

/** Adds a passkey and returns it, with the answer. */
export async function addPasskey(
  bank: Bank,
  admin: TestAdmin,
  name = 'Key',
): Promise<{ passkey: TestPasskey; answer: Answer }> {
  const passkey = newPasskey(bank.url)
  const made = passkey.create(await optionsFor(admin, '/second-factor'))
  const answer = await admin.call('/second-factor/passkeys', { body: { name, passkey: made } })
  expect(answer.status).toBe(201)
  return { passkey, answer }
}
