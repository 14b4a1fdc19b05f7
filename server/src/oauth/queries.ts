import type { Queries } from '../db/connect.ts'

export interface NewToken {
  hash: string
  clientId: number
  scopes: string[]
}

export async function insertTokens(
  sql: Queries,
  communityId: number,
  tokens: NewToken[],
  lifetimeSeconds: number,
): Promise<void> {
  await sql`
    insert into tokens (community_id, hash, client_id, scopes, expires_at)
    select ${communityId}, decode(i.hash, 'hex'), i.client_id, string_to_array(i.scopes, ' '),
      now() + make_interval(secs => ${lifetimeSeconds})
    from unnest(${tokens.map(({ hash }) => hash)}::text[], ${tokens.map(({ clientId }) => clientId)}::int8[],
      ${tokens.map(({ scopes }) => scopes.join(' '))}::text[]) as i(hash, client_id, scopes)`
}

export async function markTokenRevoked(sql: Queries, communityId: number, hash: string): Promise<void> {
  await sql`
    update tokens set revoked_at = now()
    where community_id = ${communityId} and hash = decode(${hash}, 'hex') and revoked_at is null`
}
