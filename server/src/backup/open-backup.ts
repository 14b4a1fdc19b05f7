import { open, type FileHandle } from 'node:fs/promises'
import { addAbortSignal, pipeline, Transform, type Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Value } from 'typebox/value'
import { BACKUP_VERSION } from './backup-format.ts'
import { deriveKeys, DIGEST_BYTES, isSameDigest, type BackupKey, type FileKeys } from './backup-keys.ts'
import { cutOff, damaged, newer, notABackup, toUnusable, UnusableBackup, unreadable } from './read-backup.ts'
import { END, Seal, SEAL_BYTES_MAX, SEAL_START } from './seal-backup.ts'

const CHUNK_BYTES = 64 * 1024
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b])
const LINE_END = 10

export interface OpenOptions {
  /** The keys that may have made the file. */
  keys: BackupKey[]
  /** Also accepts a file whose digest none of the keys can verify. */
  acceptUnverified?: boolean
  onProgress?: (bytes: number) => void
  signal?: AbortSignal | undefined
}

export interface OpenBackup {
  bytes: number
  isVerified: boolean
  /** The decrypted, uncompressed content. It is verified again while it is read. */
  read(onProgress: (bytes: number) => void): Readable
  close(): Promise<void>
}

/** Opens a backup after verifying all of it. Throws if it is damaged, truncated, changed or cannot be verified. */
export async function openBackup(file: string, options: OpenOptions): Promise<OpenBackup> {
  const handle = await open(file).catch((cause: Error) => {
    throw unreadable(file, cause)
  })
  try {
    const body = await findBody(file, handle, options)
    await verifyBody(body, options)
    return {
      bytes: body.bytes,
      isVerified: body.keys !== undefined,
      read: (onProgress) => readBody(body, onProgress),
      close: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

interface Body {
  file: string
  handle: FileHandle
  /** The size of the file. */
  bytes: number
  seal: Buffer
  start: number
  end: number
  /** Undefined if nothing can verify the file. */
  keys: FileKeys | undefined
  isEncrypted: boolean
  digest: Buffer
}

async function findBody(file: string, handle: FileHandle, options: OpenOptions): Promise<Body> {
  const { size: bytes } = await handle.stat()
  const head = await readAt(file, handle, 0, Math.min(SEAL_BYTES_MAX, bytes))
  const whole = { file, handle, bytes, seal: Buffer.alloc(0), start: 0, end: bytes, digest: Buffer.alloc(0) }
  if (head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) {
    if (!options.acceptUnverified) throw withoutDigest(file)
    return { ...whole, keys: undefined, isEncrypted: false }
  }
  const start = Math.min(head.length, SEAL_START.length)
  if (head.toString('latin1', 0, start) !== SEAL_START.slice(0, start)) throw notABackup(file)
  const lineEnd = head.indexOf(LINE_END)
  if (lineEnd < 0) throw bytes < SEAL_BYTES_MAX ? cutOff(file) : damaged(file, 'its first line is too long')
  const seal = parseSeal(file, head.toString('utf8', 0, lineEnd))
  const end = bytes - DIGEST_BYTES - END.length
  if (end <= lineEnd) throw cutOff(file)
  const tail = await readAt(file, handle, end, bytes - end)
  if (!tail.subarray(DIGEST_BYTES).equals(END)) throw cutOff(file)
  return {
    ...whole,
    seal: head.subarray(0, lineEnd + 1),
    start: lineEnd + 1,
    end,
    digest: tail.subarray(0, DIGEST_BYTES),
    keys: findKeys(file, seal, options),
    isEncrypted: seal.encrypted,
  }
}

async function readAt(file: string, handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from).catch((cause: Error) => {
    throw unreadable(file, cause)
  })
  return buffer.subarray(0, bytesRead)
}

function parseSeal(file: string, line: string): Seal {
  const value = parseJson(line)
  const { version } = (value ?? {}) as Partial<Seal>
  if (typeof version === 'number' && version > BACKUP_VERSION) throw newer(file, `format ${version}`)
  if (!Value.Check(Seal, value)) throw damaged(file, 'its first line is invalid')
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function findKeys(file: string, seal: Seal, { keys, acceptUnverified }: OpenOptions): FileKeys | undefined {
  const candidates = keys.filter(({ kind }) => kind === seal.key).map((key) => deriveKeys(key, seal.salt))
  const found = candidates.find(({ check }) => check === seal.check)
  if (found) return found
  if (seal.key === 'passphrase') throw wrongPassphrase(file, candidates.length > 0)
  if (seal.encrypted)
    throw new UnusableBackup(`${file} is encrypted with another SECRET_KEY. Set SECRET_KEY to that one.`)
  if (!acceptUnverified) throw otherKey(file, candidates.length > 0)
  return undefined
}

/** Without a key, gzip's checksum at least finds damage. */
async function verifyBody(body: Body, { onProgress = () => {}, signal }: OpenOptions): Promise<void> {
  const chunks = body.keys
    ? connect([bytesOf(body, onProgress), verifier(body, body.keys)])
    : readBody(body, onProgress)
  if (signal) addAbortSignal(signal, chunks)
  try {
    await finished(chunks.resume())
  } catch (error) {
    throw toUnusable(body.file, error)
  }
}

function readBody(body: Body, onProgress: (bytes: number) => void): Readable {
  const { file, keys, isEncrypted } = body
  const zipped = [
    bytesOf(body, onProgress),
    ...(keys ? [verifier(body, keys)] : []),
    ...(keys && isEncrypted ? [keys.decrypt()] : []),
  ]
  return connect([...zipped, createGunzip({ chunkSize: CHUNK_BYTES }), requireEnd(file, zipped.at(-1)!)])
}

/**
 * Fails at its end unless the input of zlib has ended as well. zlib ignores zeros after a gzip stream, so a reader could
 * finish before the digest behind the zeros is verified.
 */
function requireEnd(file: string, zipped: Readable): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, chunk)
    },
    flush(done) {
      done(zipped.readableEnded ? null : cutOff(file))
    },
  })
}

/** The reader of the result receives the error of any step. */
function connect(steps: (Readable | Transform)[]): Readable {
  pipeline(steps as [Readable, ...Transform[]], () => {})
  return steps.at(-1)!
}

function bytesOf({ handle, start, end, bytes }: Body, onProgress: (bytes: number) => void): Readable {
  const source = handle.createReadStream({ start, end: end - 1, autoClose: false, highWaterMark: CHUNK_BYTES })
  return source.on('data', () => onProgress(source.bytesRead)).on('end', () => onProgress(bytes))
}

/** Passes the body on and fails at its end if the digest does not match. */
function verifier({ file, seal, digest }: Body, keys: FileKeys): Transform {
  const actual = keys.digest().update(seal)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      actual.update(chunk)
      done(null, chunk)
    },
    flush(done) {
      done(isSameDigest(actual.digest(), digest) ? null : damaged(file, 'its digest does not match its content'))
    },
  })
}

function withoutDigest(file: string): UnusableBackup {
  return new UnusableBackup(
    `${file} was made by an older version and carries no digest, so nothing shows whether it was changed. ` +
      'If you know where it comes from, restore it with --unverified.',
  )
}

function otherKey(file: string, hasKey: boolean): UnusableBackup {
  return new UnusableBackup(
    `${file} was made with another SECRET_KEY, so it cannot be verified${hasKey ? '' : ' here: there is no key yet'}. ` +
      'Set SECRET_KEY to the key of that installation (or copy its secret-key to DATA_DIR). If you do not have it and know where ' +
      'the file comes from, restore it with --unverified: then nothing shows whether somebody has changed it.',
  )
}

function wrongPassphrase(file: string, hasPassphrase: boolean): UnusableBackup {
  return new UnusableBackup(
    hasPassphrase
      ? `The passphrase is not the one that ${file} was made with.`
      : `${file} was made with a passphrase. Name the file that contains it with --passphrase-file.`,
  )
}
