import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  scryptSync,
  timingSafeEqual,
  type Cipher,
  type Decipher,
  type Hmac,
} from 'node:crypto'

/** Both protect equally well; a passphrase also opens the backup elsewhere, or after SECRET_KEY was lost. */
export interface BackupKey {
  kind: 'secret_key' | 'passphrase'
  text: string
}

const SALT_BYTES = 16
const KEY_BYTES = 32
const IV_BYTES = 16
const CHECK_BYTES = 16
const CIPHER = 'aes-256-ctr'
const HASH = 'sha256'
export const DIGEST_BYTES = 32

/** About half a second and 128 MiB per guess (OWASP's recommendation for scrypt). */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }

/** The keys of one file. Every file has its own salt, so no key or counter is ever used twice. */
export interface FileKeys {
  /** Tells whether a key is the right one, without reading the whole file. */
  check: string
  digest(): Hmac
  encrypt(): Cipher
  decrypt(): Decipher
}

export function newSalt(): string {
  return randomBytes(SALT_BYTES).toString('base64url')
}

export function deriveKeys(key: BackupKey, salt: string): FileKeys {
  const root = key.kind === 'passphrase' ? scryptSync(key.text, salt, KEY_BYTES, SCRYPT) : key.text
  const derive = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync(HASH, root, salt, `hourbank backup ${purpose}`, bytes))
  const [digestKey, cipherKey, iv] = [
    derive('digest', KEY_BYTES),
    derive('encryption', KEY_BYTES),
    derive('iv', IV_BYTES),
  ]
  return {
    check: derive('check', CHECK_BYTES).toString('base64url'),
    digest: () => createHmac(HASH, digestKey),
    encrypt: () => createCipheriv(CIPHER, cipherKey, iv),
    decrypt: () => createDecipheriv(CIPHER, cipherKey, iv),
  }
}

export function isSameDigest(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
