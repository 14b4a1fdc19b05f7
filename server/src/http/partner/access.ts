import { openAccessChannel, type AccessChange } from '../../postgres/channel.ts'
import { coalesce, type CoalesceLimits } from '../../postgres/coalesce.ts'
import type { Sql } from '../../postgres/connect.ts'
import type { Listener } from '../../postgres/listener.ts'
import { parseNetwork, type Network } from '../../core/networks.ts'
import { commonScopes, type Scope } from '../../core/scopes.ts'
import { communityOfClientId, communityOfToken, hashSecret, hashToken, sameHash } from '../../crypto/secrets.ts'
import { findClients, findTokens, type ClientRow, type PartyRow, type TokenRow } from './access-queries.ts'

const LOOKUP_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 10_000 }
const CACHE_ENTRIES_MAX = 100_000
/** Of live tokens: to hash one takes 3 µs, a twentieth of a short request. */
const HASHES_KEPT_MAX = 1000
/** No community has this id; instead of a malformed client id this is looked up, so that it takes as long as any other. */
const NO_COMMUNITY = 0
const NO_CLIENT = 'none'

/** Whoever calls: one client of one partner, and all that the frame has to know of them. */
export interface Caller {
  readonly communityId: number
  readonly partnerId: number
  readonly clientId: number
  readonly clientPublicId: string
  readonly scopes: readonly Scope[]
  readonly partnerActive: boolean
  readonly rateLimitPerMinute: number
  /** Empty: any address. */
  readonly networks: readonly Network[]
  readonly partnerApiEnabled: boolean
  readonly partnerApiDisabledReason: string | null
}

export type TokenState = 'live' | 'expired' | 'revoked' | 'client_revoked' | 'partner_suspended'

export interface TokenLookup {
  state: TokenState
  caller: Caller
}

export interface ClientLookup {
  /** Whether the secret that was shown is right. */
  proven: boolean
  caller: Caller
}

export interface Access {
  /** A live token that memory knows, while memory is to be trusted. */
  recallToken(token: string): Caller | undefined
  /** Undefined: no such token. */
  byToken(token: string): Promise<TokenLookup | undefined>
  /** Undefined: no such client, or it was revoked. */
  byClientSecret(publicId: string, secret: string): Promise<ClientLookup | undefined>
  /** What this node itself changed holds here before the answer is sent. */
  forget(change: AccessChange): void
  /** Tells of every change of a community that is heard of; undefined: of any, since changes may have been missed. */
  onChange(listener: (communityId: number | undefined) => void): void
  /** What else is kept of communities until a change is announced. */
  communityMemory<T>(): CommunityMemory<T>
  isCacheTrusted(): boolean
  close(): void
}

/** One thing of each community, read anew after every announced change. */
export interface CommunityMemory<T> {
  /** Undefined when it has to be read. */
  recall(communityId: number): T | undefined
  read(communityId: number, read: () => Promise<T>): Promise<T>
}

interface CachedToken {
  caller: Caller
  expiresAtMs: number
}

interface CachedClient {
  caller: Caller
  /** The hashes that are accepted, each until its time. */
  secrets: { hash: Buffer; untilMs: number }[]
}

/**
 * Answers who calls, from memory while the channel proves that memory is up to date, else from the database.
 * Only live tokens and active clients are remembered.
 */
export function openAccess(sql: Sql, listener: Listener, announcing: Sql): Access {
  const tokens = new Map<string, CachedToken>()
  const hashByToken = new Map<string, string>()
  const clients = new Map<string, CachedClient>()
  const ofCommunities: Map<number, unknown>[] = []
  const listeners: ((communityId: number | undefined) => void)[] = []
  // A look-up that was under way during a change must not bring back what the change removed.
  let generation = 0

  function forget(change: AccessChange): void {
    generation += 1
    if (change.tokenHash) {
      tokens.delete(change.tokenHash)
      return
    }
    for (const memory of ofCommunities) memory.delete(change.communityId)
    for (const [hash, { caller }] of tokens) if (caller.communityId === change.communityId) tokens.delete(hash)
    for (const [id, { caller }] of clients) if (caller.communityId === change.communityId) clients.delete(id)
    for (const tell of listeners) tell(change.communityId)
  }

  const channel = openAccessChannel({
    listener,
    announcing,
    onChange: forget,
    onGap() {
      generation += 1
      tokens.clear()
      clients.clear()
      for (const memory of ofCommunities) memory.clear()
      for (const tell of listeners) tell(undefined)
    },
  })

  function remember<K, T>(cache: Map<K, T>, key: K, value: T, seenGeneration: number): void {
    if (seenGeneration !== generation || !channel.isTrusted()) return
    if (cache.size >= CACHE_ENTRIES_MAX) cache.delete(cache.keys().next().value!)
    cache.set(key, value)
  }

  const lookUpToken = coalesce(async (communityId: number, hashes: string[]) => {
    return inOrder(hashes, await findTokens(sql, communityId, hashes))
  }, LOOKUP_LIMITS)

  const lookUpClient = coalesce(async (communityId: number, publicIds: string[]) => {
    return inOrder(publicIds, await findClients(sql, communityId, publicIds))
  }, LOOKUP_LIMITS)

  /** By its hash alone: what is not one of our tokens was never remembered. */
  function recall(hash: string): Caller | undefined {
    const cached = channel.isTrusted() ? tokens.get(hash) : undefined
    return cached && cached.expiresAtMs > performance.now() ? cached.caller : undefined
  }

  return {
    recallToken(token) {
      const known = hashByToken.get(token)
      const hash = known ?? hashToken(token)
      const caller = recall(hash)
      if (caller && known === undefined) {
        if (hashByToken.size >= HASHES_KEPT_MAX) hashByToken.clear()
        hashByToken.set(token, hash)
      }
      return caller
    },

    async byToken(token) {
      const communityId = communityOfToken(token)
      if (communityId === undefined) return undefined
      const hash = hashToken(token)
      const known = recall(hash)
      if (known) return { state: 'live', caller: known }
      const seenGeneration = generation
      const row = await lookUpToken(communityId, hash)
      if (!row) return undefined
      const lookup = { state: stateOf(row), caller: toCaller(communityId, row, row.token_scopes) }
      if (lookup.state === 'live') {
        const expiresAtMs = performance.now() + row.expires_in_seconds * 1000
        remember(tokens, hash, { caller: lookup.caller, expiresAtMs }, seenGeneration)
      }
      return lookup
    },

    async byClientSecret(publicId, secret) {
      const hash = hashSecret(secret)
      const cached = channel.isTrusted() ? clients.get(publicId) : undefined
      if (cached && accepts(cached, hash)) return { proven: true, caller: cached.caller }
      // Every failure costs one look-up, whether the client is unknown, revoked or its secret wrong: they take equally long.
      const seenGeneration = generation
      const communityId = communityOfClientId(publicId)
      const row = await lookUpClient(communityId ?? NO_COMMUNITY, communityId ? publicId : NO_CLIENT)
      const client = communityId && row ? toCachedClient(communityId, row) : undefined
      if (!accepts(client, hash)) return client && { proven: false, caller: client.caller }
      remember(clients, publicId, client!, seenGeneration)
      return { proven: true, caller: client!.caller }
    },

    communityMemory<T>() {
      const memory = new Map<number, T>()
      ofCommunities.push(memory)
      return {
        recall: (communityId: number) => (channel.isTrusted() ? memory.get(communityId) : undefined),
        async read(communityId: number, read: () => Promise<T>) {
          const seenGeneration = generation
          const value = await read()
          remember(memory, communityId, value, seenGeneration)
          return value
        },
      }
    },
    forget,
    onChange: (tell) => void listeners.push(tell),
    isCacheTrusted: channel.isTrusted,
    close: channel.close,
  }
}

const NO_SECRETS = [{ hash: hashSecret(''), untilMs: -Infinity }]

function accepts(client: CachedClient | undefined, hash: Buffer): boolean {
  const nowMs = performance.now()
  // No early exit, and a comparison for unknown clients too.
  return (
    (client?.secrets ?? NO_SECRETS).filter((known) => sameHash(known.hash, hash) && known.untilMs > nowMs).length > 0
  )
}

function toCachedClient(communityId: number, row: ClientRow): CachedClient {
  const secrets = [{ hash: row.secret_hash, untilMs: Infinity }]
  if (row.previous_secret_hash && row.previous_secret_seconds !== null) {
    secrets.push({ hash: row.previous_secret_hash, untilMs: performance.now() + row.previous_secret_seconds * 1000 })
  }
  return { caller: toCaller(communityId, row), secrets }
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
    networks: row.allowed_networks.map(parseNetwork),
    partnerApiEnabled: row.partner_api_enabled,
    partnerApiDisabledReason: row.partner_api_disabled_reason,
  }
}

function stateOf(row: TokenRow): TokenState {
  if (row.token_revoked) return 'revoked'
  if (row.expires_in_seconds <= 0) return 'expired'
  if (row.client_status === 'revoked') return 'client_revoked'
  return row.partner_status === 'suspended' ? 'partner_suspended' : 'live'
}

function inOrder<Row extends PartyRow>(items: readonly unknown[], rows: Row[]): (Row | undefined)[] {
  const byNumber = new Map(rows.map((row) => [row.n, row]))
  return items.map((_, index) => byNumber.get(index + 1))
}
