import { hash, verify } from '@node-rs/argon2'
import { Refusal } from '../../core/refusal.ts'

const LENGTH_MIN = 10
const LENGTH_MAX = 200

/** Uses argon2id with the library's defaults (OWASP's second recommendation: 19 MiB, 2 passes). */
export async function hashPassword(password: string): Promise<string> {
  return hash(password)
}

/** Takes as long without a stored hash, so that timing does not reveal which email addresses exist. */
export async function verifyPassword(stored: string | undefined, password: string): Promise<boolean> {
  dummyHash ??= hash('of nobody')
  const matches = await verify(stored ?? (await dummyHash), password)
  return stored !== undefined && matches
}

let dummyHash: Promise<string> | undefined

export function checkPassword(password: string, of: { email: string; field: string }): void {
  const length = [...password].length
  if (length < LENGTH_MIN)
    throw new Refusal(`Choose a password of at least ${LENGTH_MIN} characters.`, { field: of.field })
  if (length > LENGTH_MAX)
    throw new Refusal(`Choose a password of at most ${LENGTH_MAX} characters.`, { field: of.field })
  if (password.toLowerCase() === of.email.toLowerCase()) {
    throw new Refusal('Choose a password that is not the email address.', { field: of.field })
  }
  if (new Set(password).size === 1)
    throw new Refusal('Choose a password of more than one character.', { field: of.field })
}
