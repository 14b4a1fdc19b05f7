import * as fc from 'fast-check'
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createDisguise } from '../src/crypto/disguise.ts'
import {
  communityOfClientId,
  communityOfToken,
  hashSecret,
  newClientId,
  newClientSecret,
  newToken,
  sameHash,
} from '../src/crypto/secrets.ts'

const communityId = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).filter((id) => `${id}`.length <= 16)

describe('what is handed out', () => {
  test('tokens and secrets hold 256 random bits and a checksum, after a prefix that scanners can look for', () => {
    expect(newToken(7)).toMatch(/^hbt_7_[0-9a-f]{64}[0-9a-f]{8}$/)
    expect(newClientSecret()).toMatch(/^hbs_[0-9a-f]{64}[0-9a-f]{8}$/)
    expect(newClientId(7)).toMatch(/^hbc_7_[0-9a-f]{16}$/)
  })

  test('every bit of them is random: over a thousand tokens each is on about as often as off', () => {
    const samples = Array.from({ length: 1000 }, () => BigInt(`0x${newToken(1).slice('hbt_1_'.length, -8)}`))
    for (let bit = 0n; bit < 256n; bit++) {
      const on = samples.filter((sample) => (sample >> bit) & 1n).length
      // Nine standard deviations: it fails by chance less than once in 10^16 runs.
      expect(on, `bit ${bit}`).toBeGreaterThan(357)
      expect(on, `bit ${bit}`).toBeLessThan(643)
    }
  })

  test('a scanner can compute the checksum: CRC-32 of all that comes before it', () => {
    // The check value of CRC-32 is public: 123456789 gives cbf43926.
    expect(crc32('123456789')).toBe('cbf43926')
    for (const secret of [newToken(42), newClientSecret()]) {
      expect(crc32(secret.slice(0, -8))).toBe(secret.slice(-8))
    }
  })
})

describe('what comes back', () => {
  test('a token and a client id name their community', () => {
    fc.assert(
      fc.property(communityId, (id) => {
        expect(communityOfToken(newToken(id))).toBe(id)
        expect(communityOfClientId(newClientId(id))).toBe(id)
      }),
    )
  })

  test('one wrong character anywhere in a token is noticed without asking the database', () => {
    const token = newToken(12)
    fc.assert(
      fc.property(fc.nat({ max: token.length - 1 }), fc.constantFrom(...'0123456789abcdef_x'), (at, character) => {
        fc.pre(token[at] !== character)
        expect(communityOfToken(token.slice(0, at) + character + token.slice(at + 1))).toBeUndefined()
      }),
    )
  })

  test('whatever else is sent belongs to no community', () => {
    const strange = [
      '',
      'hbt_',
      'hbc_1_',
      `${newToken(1)} `,
      ` ${newToken(1)}`,
      newToken(1).toUpperCase(),
      `${newToken(1)}\n`,
    ]
    for (const text of [...strange, newToken(0), newToken(-1), newClientSecret(), newClientId(1)]) {
      expect(communityOfToken(text), text).toBeUndefined()
    }
    for (const text of [
      ...strange,
      newClientId(0),
      newClientId(-1),
      `${newClientId(1)}\n`,
      newClientId(1).toUpperCase(),
    ]) {
      expect(communityOfClientId(text), text).toBeUndefined()
    }
    fc.assert(fc.property(fc.string(), (text) => communityOfToken(text) === undefined))
  })
})

test('hashes are SHA-256, and equal only when every byte is', () => {
  const secret = newClientSecret()
  expect(hashSecret(secret)).toEqual(createHash('sha256').update(secret).digest())
  expect(sameHash(hashSecret(secret), hashSecret(secret))).toBe(true)
  for (let at = 0; at < 32; at++) {
    const other = hashSecret(secret)
    other[at]! ^= 1
    expect(sameHash(hashSecret(secret), other)).toBe(false)
  }
  expect(sameHash(hashSecret(secret), hashSecret(secret).subarray(0, 31))).toBe(false)
})

/** Written out from the definition, apart from the library that the service uses. */
function crc32(text: string): string {
  let register = 0xffffffff
  for (const byte of Buffer.from(text)) {
    register ^= byte
    for (let bit = 0; bit < 8; bit++) register = (register >>> 1) ^ (register & 1 ? 0xedb88320 : 0)
  }
  return (~register >>> 0).toString(16).padStart(8, '0')
}

test('a disguised id leads back to its id, with the same key only, and neighbours are far apart', () => {
  const [one, other] = [createDisguise('one key', 'ids'), createDisguise('another key', 'ids')]
  const ids = [0, 1, 2, 3, 1000, 1001, 2 ** 32, 2 ** 52 - 1]
  const disguised = ids.map((id) => one.hide(id))
  expect(disguised.map((id) => one.reveal(id))).toEqual(ids)
  expect(new Set(disguised).size).toBe(ids.length)
  for (const id of disguised) expect(Number.isSafeInteger(id) && id >= 0 && id < 2 ** 52).toBe(true)
  expect(disguised.map((id) => other.reveal(id))).not.toEqual(ids)
  expect(Math.abs(one.hide(1001) - one.hide(1000))).toBeGreaterThan(2 ** 26)
  expect(one.reveal(2 ** 52)).toBeUndefined()
})
