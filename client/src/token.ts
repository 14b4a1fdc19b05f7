import { HourbankError } from './errors.ts'
import type { TokenResponse } from './types.ts'

/** How long before its expiry a token is renewed, while calls still use the old one. */
const RENEW_AHEAD_MS = 120_000
/** How long before its expiry a token is no longer used: it must not expire while a call is in flight. */
const EXPIRY_MARGIN_MS = 10_000
/** RFC 6749 A.12. Anything else is not allowed in a header, and the platform's error would quote it. */
const TOKEN_PATTERN = /^[\x21-\x7e]+$/

export interface Tokens {
  /** Returns a valid token. Requests a new one if needed; concurrent callers share the request. */
  current(): Promise<string>
  /** The service rejected this token. */
  forget(token: string): void
  /** Removes the current token and returns it, so that it can be revoked. */
  giveUp(): Promise<string | undefined>
  /** Rejects all later calls. */
  close(): void
}

/** `issueMsMax`: a token request that takes longer is lost, for example because the runtime was suspended. */
export function keepTokens(
  issue: () => Promise<Record<string, unknown>>,
  issueMsMax: number,
  now: () => number,
): Tokens {
  let held: { token: string; freshUntil: number; usableUntil: number } | undefined
  let renewal: { token: Promise<string>; startedAt: number } | undefined
  let isClosed = false

  function renew(): Promise<string> {
    const startedAt = now()
    if (renewal && startedAt - renewal.startedAt <= issueMsMax) return renewal.token
    const begun = { token: ask(startedAt), startedAt }
    renewal = begun
    const end = () => {
      if (renewal === begun) renewal = undefined
    }
    begun.token.then(end, end)
    return begun.token
  }

  async function ask(askedAt: number): Promise<string> {
    const response = await issue().catch((error: unknown) => {
      throw isClosed ? closed() : error
    })
    const { access_token: token, expires_in } = readTokenResponse(response)
    // Counted from before the request. A short-lived token is used for at least half its lifetime.
    const lifetimeMs = expires_in * 1000
    held = {
      token,
      freshUntil: askedAt + lifetimeMs - Math.min(RENEW_AHEAD_MS, lifetimeMs / 2),
      usableUntil: askedAt + lifetimeMs - Math.min(EXPIRY_MARGIN_MS, lifetimeMs / 2),
    }
    return token
  }

  return {
    async current() {
      if (isClosed) throw closed()
      if (held && now() < held.freshUntil) return held.token
      const renewed = renew()
      if (!held || now() >= held.usableUntil) return renewed
      // The current token is still valid. A call after its expiry reports the failure.
      renewed.catch(() => undefined)
      return held.token
    },

    forget(token) {
      if (held?.token === token) held = undefined
    },

    async giveUp() {
      await renewal?.token.catch(() => undefined)
      const token = held?.token
      held = undefined
      return token
    },

    close() {
      isClosed = true
    },
  }
}

function closed(): HourbankError {
  return new HourbankError('closed', 'This client was closed.')
}

function readTokenResponse(body: Record<string, unknown>): Pick<TokenResponse, 'access_token' | 'expires_in'> {
  const { access_token, token_type, expires_in } = body
  if (typeof access_token !== 'string' || !TOKEN_PATTERN.test(access_token)) throw notAToken('access_token')
  if (typeof token_type !== 'string' || token_type.toLowerCase() !== 'bearer') throw notAToken('token_type')
  if (typeof expires_in !== 'number' || !(expires_in > 0)) throw notAToken('expires_in')
  return { access_token, expires_in }
}

function notAToken(field: keyof TokenResponse): HourbankError {
  return new HourbankError('invalid_response', `POST /oauth/token: the response has no usable ${field}`)
}
