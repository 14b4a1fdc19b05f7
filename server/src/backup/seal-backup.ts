import { Type, type Static } from 'typebox'
import { BACKUP_FORMAT, BACKUP_VERSION } from './backup-format.ts'
import { deriveKeys, newSalt, type BackupKey } from './backup-keys.ts'

/*
 * A backup file:
 *
 *   the seal    one line: {"format":"hourbank-backup","version":2,"key":…,"encrypted":…,"salt":…,"check":…}
 *   the body    the gzip stream that backup-format.ts describes; encrypted with AES-256-CTR if the seal says so
 *   the digest  HMAC-SHA-256 of everything before it (encrypt-then-MAC)
 *   the end     a fixed line, by which a truncated file is recognised
 *
 * Files of version 1 are a bare gzip stream.
 */
export const SEAL_START = `{"format":"${BACKUP_FORMAT}",`
export const SEAL_BYTES_MAX = 1024
export const END = Buffer.from('\nend of hourbank-backup\n')

export const Seal = Type.Object({
  format: Type.Literal(BACKUP_FORMAT),
  version: Type.Integer(),
  key: Type.Union([Type.Literal('secret_key'), Type.Literal('passphrase')]),
  encrypted: Type.Boolean(),
  salt: Type.String({ minLength: 1 }),
  check: Type.String(),
})
export type Seal = Static<typeof Seal>

/** Wraps a gzip stream into a file with a digest. */
export async function* sealBackup(
  key: BackupKey,
  encrypted: boolean,
  gzip: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const salt = newSalt()
  const keys = deriveKeys(key, salt)
  const digest = keys.digest()
  const cipher = encrypted ? keys.encrypt() : undefined
  const covered = (chunk: Buffer) => {
    digest.update(chunk)
    return chunk
  }
  const seal: Seal = {
    format: BACKUP_FORMAT,
    version: BACKUP_VERSION,
    key: key.kind,
    encrypted,
    salt,
    check: keys.check,
  }
  yield covered(Buffer.from(`${JSON.stringify(seal)}\n`))
  for await (const chunk of gzip) yield covered(cipher ? cipher.update(chunk) : chunk)
  yield digest.digest()
  yield END
}
