import type { JWK } from 'jose'
import type { Queries } from '../../postgres/connect.ts'

/** The caller's data that the frame needs, however the caller authenticates. */
export interface PartyRow {
  n: number
  client_id: number
  client_public_id: string
  client_scopes: string[]
  partner_id: number
  partner_status: 'active' | 'suspended'
  partner_scopes: string[]
  rate_limit_per_minute: number
  allowed_networks: string[]
  partner_api_enabled: boolean
  partner_api_disabled_reason: string | null
  community_is_test: boolean
  /** Until the client expires; null if it never does. By the database's clock, which may differ from ours. */
  client_expires_in_seconds: number | null
}

export interface TokenRow extends PartyRow {
  token_scopes: string[]
  token_revoked: boolean
  client_status: 'active' | 'revoked' | 'expired'
  /** By the database's clock, which may differ from ours. */
  expires_in_seconds: number
}

export interface ClientRow extends PartyRow {
  authentication: 'secret' | 'keys' | 'jwks'
  secret_hash: Buffer
  previous_secret_hash: Buffer | null
  previous_secret_seconds: number | null
}

export interface KeyClientRow extends PartyRow {
  keys: JWK[]
  jwks_url: string | null
}

const partyColumns = (sql: Queries) => sql`
  i.n::int4, c.id as client_id, c.public_id as client_public_id, c.scopes as client_scopes, p.id as partner_id, p.status as partner_status,
  p.scopes as partner_scopes, p.rate_limit_per_minute, p.allowed_networks, m.partner_api_enabled,
  m.partner_api_disabled_reason, m.test as community_is_test,
  extract(epoch from c.expires_at - now())::float8 as client_expires_in_seconds`

const isUsable = (sql: Queries) => sql`c.status = 'active' and (c.expires_at is null or c.expires_at > now())`

/** Returns the tokens that exist in a community, in any state. */
export async function findTokens(sql: Queries, communityId: number, hashes: string[]): Promise<TokenRow[]> {
  return sql<TokenRow[]>`
    select ${partyColumns(sql)}, t.scopes as token_scopes, t.revoked_at is not null as token_revoked,
      case when ${isUsable(sql)} then 'active' when c.status = 'active' then 'expired' else c.status end as client_status,
      extract(epoch from t.expires_at - now())::float8 as expires_in_seconds
    from unnest(${hashes}::text[]) with ordinality as i(hash, n)
    join tokens t on t.community_id = ${communityId} and t.hash = decode(i.hash, 'hex')
    join clients c on c.community_id = ${communityId} and c.id = t.client_id
    join partners p on p.community_id = ${communityId} and p.id = c.partner_id
    join communities m on m.id = ${communityId}`
}

/** Returns the clients of a community that are neither revoked nor expired. */
export async function findClients(sql: Queries, communityId: number, publicIds: string[]): Promise<ClientRow[]> {
  return sql<ClientRow[]>`
    select ${partyColumns(sql)}, c.authentication, c.secret_hash, c.previous_secret_hash,
      extract(epoch from c.previous_secret_until - now())::float8 as previous_secret_seconds
    from unnest(${publicIds}::text[]) with ordinality as i(public_id, n)
    join clients c on c.community_id = ${communityId} and c.public_id = i.public_id and ${isUsable(sql)}
    join partners p on p.community_id = ${communityId} and p.id = c.partner_id
    join communities m on m.id = ${communityId}`
}

/** Returns the same clients with what verifies their signatures; those with a secret have nothing. */
export async function findKeyClients(sql: Queries, communityId: number, publicIds: string[]): Promise<KeyClientRow[]> {
  return sql<KeyClientRow[]>`
    select ${partyColumns(sql)}, c.jwks_url, array(
        select k.jwk from client_keys k where k.community_id = ${communityId} and k.client_id = c.id
        order by k.created_at) as keys
    from unnest(${publicIds}::text[]) with ordinality as i(public_id, n)
    join clients c on c.community_id = ${communityId} and c.public_id = i.public_id and ${isUsable(sql)}
    join partners p on p.community_id = ${communityId} and p.id = c.partner_id
    join communities m on m.id = ${communityId}`
}
