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
  /** Address of the service, such as https://hours.example.org */
  baseUrl: string
  clientId: string
  /** Either this or a private key. */
  clientSecret?: string | undefined
  /** Instead of a secret: the private key of the registered public key, as PEM (PKCS #8) or JWK. */
  privateKey?: string | PrivateJwk | undefined
  /** The `kid` of the key, if the client publishes its keys at an address. Default: the `kid` of the JWK. */
  keyId?: string | undefined
  /** Audience of signed assertions, if `baseUrl` is not the service's public address. */
  audience?: string | undefined
  /** Scopes to request. Default: all scopes of the client. */
  scope?: string | readonly Scope[] | undefined
  /** Limit for each attempt, including reading the response. Default: 30 seconds. */
  timeoutMs?: number | undefined
  /** Limit for a whole call: token, attempts and the pauses between them. Default: 2 minutes. */
  totalTimeoutMs?: number | undefined
  /** How often to retry; 0 means never. Default: as often as `totalTimeoutMs` allows. */
  retries?: number | undefined
  /** Replaces the platform's `fetch`, for example to use a proxy. */
  fetch?: Fetch | undefined
  /** Replaces the clock (time in milliseconds), for tests. */
  now?: (() => number) | undefined
  /** Replaces the timer for the pauses between attempts, for tests. */
  wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
  /** Replaces `Math.random` for the length of these pauses, for tests. */
  random?: (() => number) | undefined
}

/**
 * The partner API. Use one instance per pair of credentials for the whole program: it caches the access token, renews
 * it in time, and retries where that is safe.
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
  // A private field, so that logging the client does not print its credentials.
  readonly #transport: Transport

  constructor(options: HourbankOptions) {
    const baseUrl = readBaseUrl(options.baseUrl)
    const { scope, fetch, now = Date.now, wait = waitFor, random = Math.random } = options
    this.#transport = createTransport({
      baseUrl,
      authenticate: createAuthentication(options, baseUrl, now),
      clientSecret: options.clientSecret,
      scope: typeof scope === 'object' ? scope.join(' ') : scope,
      // Looked up at each call, so that a global `fetch` that is instrumented later is used too, with its own `this`.
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

  /** Revokes the current access token, if there is one. The next call gets a new one. */
  async revokeToken(options?: CallOptions): Promise<void> {
    await this.#transport.revokeToken(options)
  }

  /**
   * Closes the client: later calls are rejected, and the token is revoked. If the service is unreachable, the token
   * expires by itself within the hour, so this does not throw; `revokeToken` would.
   */
  async close(options?: CallOptions): Promise<void> {
    this.#transport.close()
    await this.#transport.revokeToken(options).catch(() => undefined)
  }
}

/** Accepts the address with or without the API prefix and a trailing slash. */
function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl must be an http(s) address without credentials, query and fragment.')
  }
  const path = url.pathname.replace(/\/+$/, '')
  return url.origin + (path.endsWith(API_PREFIX) ? path.slice(0, -API_PREFIX.length) : path)
}

/** Requires a secret or a key, but not both. */
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
