import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

class WrongSecretKey extends Error {}

/** What is sealed for one purpose cannot be opened for another. */
export type Purpose = 'webhook secrets' | 'feed cursors'

/** Encrypts secrets at rest, and what clients keep for us without reading it. */
export interface SecretBox {
  seal(text: string): Buffer
  /** Decrypts with the current or the previous key. */
  open(sealed: Buffer): string
  /** Whether the current key cannot decrypt it, so it should be sealed again. */
  isOutdated(sealed: Buffer): boolean
  readonly hasPrevious: boolean
}

export function createSecretBox(
  secretKey: string,
  previousSecretKey?: string,
  purpose: Purpose = 'webhook secrets',
): SecretBox {
  const key = deriveKey(secretKey, purpose)
  const previous = previousSecretKey === undefined ? undefined : deriveKey(previousSecretKey, purpose)

  return {
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce)
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    open(sealed) {
      const text = tryOpen(key, sealed) ?? (previous && tryOpen(previous, sealed))
      if (text === undefined) throw new WrongSecretKey('A stored secret cannot be opened with SECRET_KEY.')
      return text
    },
    isOutdated: (sealed) => tryOpen(key, sealed) === undefined,
    hasPrevious: previous !== undefined,
  }
}

function deriveKey(secretKey: string, purpose: Purpose): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `hourbank ${purpose}`, KEY_BYTES))
}

function tryOpen(key: Buffer, sealed: Buffer): string | undefined {
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const body = sealed.subarray(NONCE_BYTES + TAG_BYTES)
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
