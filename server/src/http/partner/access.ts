import type { JWK } from 'jose'
import { openAccessChannel, type AccessChange, type AccessChannelOptions } from '../../postgres/channel.ts'
import { coalesce, type CoalesceLimits } from '../../postgres/coalesce.ts'
import type { Sql } from '../../postgres/connect.ts'
import type { Awaitable } from '../../core/awaitable.ts'
import { parseNetwork, type Network } from '../../core/networks.ts'
import { commonScopes, type Scope } from '../../core/scopes.ts'
import { communityOfClientId, communityOfToken, hashSecret, hashToken, sameHash } from '../../crypto/secrets.ts'
import {
  findClients,
  findKeyClients,
  findTokens,
  type ClientRow,
  type PartyRow,
  type TokenRow,
} from './access-queries.ts'

const LOOKUP_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 10_000 }
const CACHE_ENTRIES_MAX = 100_000
/** No community has this id. Looked up for a malformed client id, so that it takes as long as a well-formed one. */
const NO_COMMUNITY = 0
const NO_CLIENT = 'none'

/** The authenticated caller: client, partner, scopes and limits. */
export interface Caller {
  readonly communityId: number
  readonly partnerId: number
  readonly clientId: number
  readonly clientPublicId: string
  readonly scopes: readonly Scope[]
  readonly partnerActive: boolean
  readonly rateLimitPerMinute: number
  /** Empty means any address. */
  readonly networks: readonly Network[]
  readonly partnerApiEnabled: boolean
  readonly partnerApiDisabledReason: string | null
  /** Whether the community is for testing: only there do errors occur on demand. */
  readonly isTest: boolean
}

export type TokenState = 'live' | 'expired' | 'revoked' | 'client_revoked' | 'client_expired' | 'partner_suspended'

export interface TokenLookup {
  state: TokenState
  caller: Caller
}

export interface ClientLookup {
  /** Whether the given secret or assertion is correct. */
  proven: boolean
  caller: Caller
}

export interface KeyClientLookup {
  caller: Caller
  /** Registered keys; none for a client with a secret. */
  keys: readonly JWK[]
  /** Where the client publishes its keys instead. */
  jwksUrl: string | null
}

/** A cache of tokens and clients in front of the database. */
export interface AccessCache {
  /** Returns undefined for an unknown token, and a live one at once if it is cached. */
  findByToken(token: string): Awaitable<TokenLookup | undefined>
  /** Returns undefined for a client that is unknown, revoked or expired. */
  findByClientSecret(publicId: string, secret: string): Promise<ClientLookup | undefined>
  /** Always asks the database, which also records each assertion. Returns undefined for one that is unknown, revoked or expired. */
  findKeyClient(publicId: string): Promise<KeyClientLookup | undefined>
  /** Reports every change received; undefined means any community, because changes may have been missed. */
  onChange(listener: (communityId: number | undefined) => void): void
  /** Creates a cache that is invalidated together with the access data of a community. */
  createCommunityCache<T>(): CommunityCache<T>
  isCacheTrusted(): boolean
  close(): void
}

/** Caches one value per community until a change is announced. */
export interface CommunityCache<T> {
  get(communityId: number): T | undefined
  load(communityId: number, read: () => Promise<T>): Promise<T>
}

interface CachedToken {
  lookup: TokenLookup
  expiresAtMs: number
}

interface CachedClient {
  caller: Caller
  /** The accepted hashes and when each expires. */
  secrets: { hash: Buffer; untilMs: number }[]
}

export interface AccessCacheOptions extends Pick<AccessChannelOptions, 'listener' | 'background' | 'changing' | 'log'> {
  /** For lookups. */
  sql: Sql
}

/**
 * Identifies callers from the cache while the channel proves that it is up to date, otherwise from the database.
 * Only live tokens and active clients are cached.
 */
export function openAccessCache({ sql, ...channelOptions }: AccessCacheOptions): AccessCache {
  const tokens = new Map<string, CachedToken>()
  const clients = new Map<string, CachedClient>()
  const communityCaches: Map<number, unknown>[] = []
  const listeners: ((communityId: number | undefined) => void)[] = []
  // Incremented on every change, so that a lookup in flight does not cache what the change invalidated.
  let generation = 0

  function invalidate(change: AccessChange): void {
    generation += 1
    if (change.tokenHash) {
      tokens.delete(change.tokenHash)
      return
    }
    for (const cache of communityCaches) cache.delete(change.communityId)
    for (const [hash, { lookup }] of tokens) if (lookup.caller.communityId === change.communityId) tokens.delete(hash)
    for (const [id, { caller }] of clients) if (caller.communityId === change.communityId) clients.delete(id)
    for (const notify of listeners) notify(change.communityId)
  }

  const channel = openAccessChannel({
    ...channelOptions,
    onChange: invalidate,
    onGap() {
      generation += 1
      tokens.clear()
      clients.clear()
      for (const cache of communityCaches) cache.clear()
      for (const notify of listeners) notify(undefined)
    },
  })

  function store<K, T>(cache: Map<K, T>, key: K, value: T, readGeneration: number): void {
    if (readGeneration !== generation || !channel.isTrusted()) return
    if (cache.size >= CACHE_ENTRIES_MAX) cache.delete(cache.keys().next().value!)
    cache.set(key, value)
  }

  const lookUpToken = coalesce(async (communityId: number, hashes: string[]) => {
    return sortByItem(hashes, await findTokens(sql, communityId, hashes))
  }, LOOKUP_LIMITS)

  const lookUpClient = coalesce(async (communityId: number, publicIds: string[]) => {
    return sortByItem(publicIds, await findClients(sql, communityId, publicIds))
  }, LOOKUP_LIMITS)

  const lookUpKeyClient = coalesce(async (communityId: number, publicIds: string[]) => {
    return sortByItem(publicIds, await findKeyClients(sql, communityId, publicIds))
  }, LOOKUP_LIMITS)

  /** Needs no check of the token's format: only valid tokens are cached. */
  function getLookup(hash: string): TokenLookup | undefined {
    const cached = channel.isTrusted() ? tokens.get(hash) : undefined
    return cached && cached.expiresAtMs > performance.now() ? cached.lookup : undefined
  }

  async function readToken(token: string, hash: string): Promise<TokenLookup | undefined> {
    const communityId = communityOfToken(token)
    if (communityId === undefined) return undefined
    const readGeneration = generation
    const row = await lookUpToken(communityId, hash)
    if (!row) return undefined
    const lookup = { state: stateOf(row), caller: toCaller(communityId, row, row.token_scopes) }
    if (lookup.state === 'live') {
      const seconds = Math.min(row.expires_in_seconds, row.client_expires_in_seconds ?? Infinity)
      store(tokens, hash, { lookup, expiresAtMs: performance.now() + seconds * 1000 }, readGeneration)
    }
    return lookup
  }

  return {
    findByToken(token) {
      const hash = hashToken(token)
      return getLookup(hash) ?? readToken(token, hash)
    },

    async findByClientSecret(publicId, secret) {
      const hash = hashSecret(secret)
      const cached = channel.isTrusted() ? clients.get(publicId) : undefined
      if (cached && accepts(cached, hash)) return { proven: true, caller: cached.caller }
      // Every failure costs one lookup, so that an unknown client, a revoked one and a wrong secret take equally long.
      const readGeneration = generation
      const communityId = communityOfClientId(publicId)
      const row = await lookUpClient(communityId ?? NO_COMMUNITY, communityId ? publicId : NO_CLIENT)
      const client = communityId && row ? toCachedClient(communityId, row) : undefined
      if (!accepts(client, hash)) return client && { proven: false, caller: client.caller }
      store(clients, publicId, client!, readGeneration)
      return { proven: true, caller: client!.caller }
    },

    async findKeyClient(publicId) {
      const communityId = communityOfClientId(publicId)
      const row = await lookUpKeyClient(communityId ?? NO_COMMUNITY, communityId ? publicId : NO_CLIENT)
      return communityId && row
        ? { caller: toCaller(communityId, row), keys: row.keys, jwksUrl: row.jwks_url }
        : undefined
    },

    createCommunityCache<T>() {
      const cache = new Map<number, T>()
      communityCaches.push(cache)
      return {
        get: (communityId: number) => (channel.isTrusted() ? cache.get(communityId) : undefined),
        async load(communityId: number, read: () => Promise<T>) {
          const readGeneration = generation
          const value = await read()
          store(cache, communityId, value, readGeneration)
          return value
        },
      }
    },
    onChange: (notify) => void listeners.push(notify),
    isCacheTrusted: channel.isTrusted,
    close: channel.close,
  }
}

const NO_SECRETS = [{ hash: hashSecret(''), untilMs: -Infinity }]

function accepts(client: CachedClient | undefined, hash: Buffer): boolean {
  const nowMs = performance.now()
  // Constant time: no early exit, and unknown clients are compared as well.
  return (
    (client?.secrets ?? NO_SECRETS).filter((known) => sameHash(known.hash, hash) && known.untilMs > nowMs).length > 0
  )
}

function toCachedClient(communityId: number, row: ClientRow): CachedClient {
  const caller = toCaller(communityId, row)
  // A client with keys has no secret, whatever its row says.
  if (row.authentication !== 'secret') return { caller, secrets: NO_SECRETS }
  const nowMs = performance.now()
  const untilMs = nowMs + (row.client_expires_in_seconds ?? Infinity) * 1000
  const secrets = [{ hash: row.secret_hash, untilMs }]
  if (row.previous_secret_hash && row.previous_secret_seconds !== null) {
    const previousUntilMs = Math.min(untilMs, nowMs + row.previous_secret_seconds * 1000)
    secrets.push({ hash: row.previous_secret_hash, untilMs: previousUntilMs })
  }
  return { caller, secrets }
}

function toCaller(communityId: number, row: PartyRow, tokenScopes: readonly string[] = row.client_scopes): Caller {
  return {
    communityId,
    partnerId: row.partner_id,
    clientId: row.client_id,
    clientPublicId: row.client_public_id,
    scopes: commonScopes(tokenScopes, row.client_scopes, row.partner_scopes),
    partnerActive: row.partner_status === 'active',
    rateLimitPerMinute: row.rate_limit_per_minute,
    networks: row.allowed_networks.map((network) => parseNetwork(network)),
    partnerApiEnabled: row.partner_api_enabled,
    partnerApiDisabledReason: row.partner_api_disabled_reason,
    isTest: row.community_is_test,
  }
}

function stateOf(row: TokenRow): TokenState {
  if (row.token_revoked) return 'revoked'
  if (row.expires_in_seconds <= 0) return 'expired'
  if (row.client_status !== 'active') return `client_${row.client_status}`
  return row.partner_status === 'suspended' ? 'partner_suspended' : 'live'
}

function sortByItem<Row extends PartyRow>(items: readonly unknown[], rows: Row[]): (Row | undefined)[] {
  const byNumber = new Map(rows.map((row) => [row.n, row]))
  return items.map((_, index) => byNumber.get(index + 1))
}
