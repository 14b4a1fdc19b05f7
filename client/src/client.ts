import { createSigner, type PrivateJwk } from './assertion.ts'
import type { Fetch } from './fetch-json.ts'
import { RETRIES_DEFAULT, TIMEOUT_MS_DEFAULT, TOTAL_TIMEOUT_MS_DEFAULT, waitFor } from './retry.ts'
import { aggregatesResource } from './resources/aggregates.ts'
import { eventsResource } from './resources/events.ts'
import { listingsResource } from './resources/listings.ts'
import { removalsResource } from './resources/removals.ts'
import { usersResource } from './resources/users.ts'
import { walletResource } from './resources/wallet.ts'
import { webhooksResource } from './resources/webhooks.ts'
import {
  API_PREFIX,
  createTransport,
  readLimits,
  type Authenticate,
  type CallOptions,
  type Transport,
} from './transport.ts'
import type { Scope } from './types.ts'

export interface HourbankOptions {
  /** Where the service is, such as https://hours.example.org */
  baseUrl: string
  clientId: string
  /** This, or a private key. */
  clientSecret?: string | undefined
  /** Instead of a secret: the private key to the public one that is registered, as PEM (PKCS #8) or JWK. */
  privateKey?: string | PrivateJwk | undefined
  /** The `kid` of the key, if the client publishes its keys at an address; that of the JWK when omitted. */
  keyId?: string | undefined
  /** For whom assertions are signed, if the service is reached under another address than its public one. */
  audience?: string | undefined
  /** What to ask for; all that the client may have when omitted. */
  scope?: string | readonly Scope[] | undefined
  /** For each attempt, the reading of its answer included; 30 seconds when omitted. */
  timeoutMs?: number | undefined
  /** For a whole call: token, attempts and the pauses between them; 2 minutes when omitted. */
  totalTimeoutMs?: number | undefined
  /** How often to try again; 5 when omitted, 0: never. */
  retries?: number | undefined
  /** Instead of the platform's `fetch`, for instance one that goes through a proxy. */
  fetch?: Fetch | undefined
  /** Instead of the clock's time in milliseconds, for tests. */
  now?: (() => number) | undefined
  /** Instead of a timer for the pauses between attempts, for tests. */
  wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
  /** Instead of `Math.random` for the length of these pauses, for tests. */
  random?: (() => number) | undefined
}

/**
 * The partner API. One instance per pair of credentials serves a whole program: it keeps the access token, renews it
 * in time, and tries again what can be tried again.
 */
export class Hourbank {
  /** Members. */
  readonly users: ReturnType<typeof usersResource>
  /** Services and requests. */
  readonly listings: ReturnType<typeof listingsResource>
  /** Members and listings that can no longer be seen. */
  readonly removals: ReturnType<typeof removalsResource>
  /** Balances, credits and their reversal. */
  readonly wallet: ReturnType<typeof walletResource>
  /** Community totals. */
  readonly aggregates: ReturnType<typeof aggregatesResource>
  /** Subscriptions and deliveries. */
  readonly webhooks: ReturnType<typeof webhooksResource>
  /** The same events as a feed. */
  readonly events: ReturnType<typeof eventsResource>
  // Private to the language, so that no log or debugger that prints the client shows what is behind it.
  readonly #transport: Transport

  constructor(options: HourbankOptions) {
    const baseUrl = readBaseUrl(options.baseUrl)
    const { scope, fetch, now = Date.now, wait = waitFor, random = Math.random } = options
    this.#transport = createTransport({
      baseUrl,
      authenticate: createAuthentication(options, baseUrl, now),
      clientSecret: options.clientSecret,
      scope: typeof scope === 'object' ? scope.join(' ') : scope,
      // Looked up at each call, so that instrumentation of the global one works at any time, and it keeps its `this`.
      fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
      clock: { now, wait, random },
      limits: readLimits(
        { timeoutMs: options.timeoutMs, totalTimeoutMs: options.totalTimeoutMs, retries: options.retries },
        {
          timeoutMs: TIMEOUT_MS_DEFAULT,
          totalTimeoutMs: TOTAL_TIMEOUT_MS_DEFAULT,
          retries: RETRIES_DEFAULT,
          signal: undefined,
        },
      ),
    })
    const { send } = this.#transport
    this.users = usersResource(send)
    this.listings = listingsResource(send)
    this.removals = removalsResource(send)
    this.wallet = walletResource(send)
    this.aggregates = aggregatesResource(send)
    this.webhooks = webhooksResource(send)
    this.events = eventsResource(send)
  }

  /** Revokes the access token that is held, if there is one. The next call gets a new one. */
  async revokeToken(options?: CallOptions): Promise<void> {
    await this.#transport.revokeToken(options)
  }

  /**
   * Ends the client: later calls are refused, and the token is revoked. A token that cannot be revoked, because the
   * service is away, ends by itself within the hour, so this does not throw; `revokeToken` would.
   */
  async close(options?: CallOptions): Promise<void> {
    this.#transport.close()
    await this.#transport.revokeToken(options).catch(() => undefined)
  }
}

/** With or without the prefix of the API and a slash at its end. */
function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl must be an http(s) address without credentials, query and fragment.')
  }
  const path = url.pathname.replace(/\/+$/, '')
  return url.origin + (path.endsWith(API_PREFIX) ? path.slice(0, -API_PREFIX.length) : path)
}

/** By a secret or by a key, and not by both. */
function createAuthentication(options: HourbankOptions, baseUrl: string, now: () => number): Authenticate {
  const { clientSecret, privateKey, keyId } = options
  const clientId = requireText('clientId', options.clientId)
  if (privateKey === undefined) {
    const secret = requireText('clientSecret', clientSecret)
    return async () => ({ client_id: clientId, client_secret: secret })
  }
  if (clientSecret !== undefined) throw new TypeError('Give a clientSecret or a privateKey, not both.')
  const audience = options.audience ?? `${baseUrl}${API_PREFIX}/oauth/token`
  return createSigner({ clientId, privateKey, keyId, audience, now })
}

function requireText(name: string, value: string | undefined): string {
  if (typeof value === 'string' && value !== '') return value
  throw new TypeError(`${name} must be a text that is not empty.`)
}
