import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** What every authenticator app supports: RFC 6238 with SHA-1, 6 digits and steps of 30 seconds. */
const STEP_SECONDS = 30
const DIGITS = 6
/** Clocks of phones differ, and typing takes time (RFC 6238 5.2 recommends at most one step). */
const STEPS_OF_LEEWAY = 1
/** RFC 4226 4 recommends 160 bits. */
const SECRET_BYTES = 20
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const BASE32_BITS = 5

/** Generates a secret in base32, as people type it into an app. */
export function newAppSecret(): string {
  const bits = [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(new RegExp(`.{${BASE32_BITS}}`, 'g'))!
  return groups.map((group) => BASE32[Number.parseInt(group, 2)]).join('')
}

/** The address that apps read from the QR code. */
export function appAddress(secret: string, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`
}

/** Returns the step whose code this is, or undefined if it is the code of no step around now. */
export function stepOfCode(secret: string, code: string, now = Date.now()): number | undefined {
  const current = currentStep(now)
  for (let step = current + STEPS_OF_LEEWAY; step >= current - STEPS_OF_LEEWAY; step--) {
    if (isSame(codeOfStep(secret, step), code)) return step
  }
  return undefined
}

export function currentStep(now = Date.now()): number {
  return Math.floor(now / 1000 / STEP_SECONDS)
}

/** RFC 4226 5.3: four bytes of the HMAC, at a place that its last four bits name. */
export function codeOfStep(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  const number = mac.readUInt32BE(mac.at(-1)! & 0xf) & 0x7fffffff
  return `${number % 10 ** DIGITS}`.padStart(DIGITS, '0')
}

function decodeBase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(BASE32_BITS, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}
