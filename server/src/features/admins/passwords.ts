import { hash, verify } from '@node-rs/argon2'
import { because, type Reason } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { createWorkQueue, QueueFull } from '../../core/work-queue.ts'

const LENGTH_MIN = 12
const LENGTH_MAX = 200
/** Of 4. At 3 a program needs more than 100 million guesses. */
const SCORE_MIN = 3
/**
 * A password is at least as hard to guess as its beginning. The estimate blocks the process, and its time grows faster
 * than the length: the worst of 30 patterns took 60 ms of CPU time for 32 characters, 180 for 100 and 530 for 200. Of
 * 987 long sentences and passphrases none became guessable by this cut; at 24 characters one did, at 20 five.
 */
const ESTIMATED_LENGTH_MAX = 32

/**
 * One queue per process. Hashes run on the four threads that compression and name resolution use too, so two of them
 * stay free: a burst of 100 sign-ins delayed a compressed response by up to nine seconds.
 */
const hashing = createWorkQueue({ runningMax: 2, waitingMax: 20 })

/** Rejects early, before an attempt is counted. */
export function requireHashingCapacity(): void {
  if (hashing.isFull) throw new QueueFull()
}

/** Uses argon2id with the library's defaults (OWASP's second recommendation: 19 MiB, 2 passes). */
export async function hashPassword(password: string, isWanted?: () => boolean): Promise<string> {
  return hashing.run(() => hash(password), isWanted)
}

/** Takes as long without a stored hash, so that timing does not reveal which email addresses exist. */
export async function verifyPassword(
  stored: string | undefined,
  password: string,
  isWanted?: () => boolean,
): Promise<boolean> {
  dummyHash ??= hash('of nobody')
  const expected = stored ?? (await dummyHash)
  const matches = await hashing.run(() => verify(expected, password), isWanted)
  return stored !== undefined && matches
}

let dummyHash: Promise<string> | undefined

/** Rejects short passwords, and those that are common or easy to guess for a program. */
export async function checkPassword(password: string, of: { email: string; field: string }): Promise<void> {
  const length = [...password].length
  const refuse = (reason: Reason) => new Refusal(reason, { field: of.field })
  if (length < LENGTH_MIN) throw refuse(because('password_short', { min: LENGTH_MIN }))
  if (length > LENGTH_MAX) throw refuse(because('password_long', { max: LENGTH_MAX }))
  if (password.toLowerCase() === of.email.toLowerCase()) throw refuse(because('password_is_email'))
  estimator ??= loadEstimator()
  const known = ['hourbank', of.email, ...of.email.split(/[@.]/)]
  const { score } = (await estimator).check(beginningOf(password), known.map(beginningOf))
  if (score < SCORE_MIN) throw refuse(because('password_guessable'))
}

function beginningOf(text: string): string {
  return text.slice(0, ESTIMATED_LENGTH_MAX)
}

let estimator: ReturnType<typeof loadEstimator> | undefined

/** Loaded when somebody chooses a password for the first time: its lists hold tens of thousands of passwords and words. */
async function loadEstimator() {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
}
