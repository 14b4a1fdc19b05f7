import type { Queries } from '../../postgres/connect.ts'

export interface NewToken {
  hash: string
  clientId: number
  scopes: string[]
}

/**
 * Locks each client once for all its tokens. A foreign key check per token took longer than the rest. Returns the clients
 * that were removed meanwhile, which get none.
 */
export async function insertTokens(
  sql: Queries,
  communityId: number,
  tokens: NewToken[],
  lifetimeSeconds: number,
): Promise<Set<number>> {
  const clientIds = [...new Set(tokens.map(({ clientId }) => clientId))]
  const { count } = await sql`
    with locked_clients as materialized (
      select id from clients where community_id = ${communityId} and id = any (${clientIds}::int8[])
      order by id for key share
    )
    insert into tokens (community_id, hash, client_id, scopes, expires_at)
    select ${communityId}, decode(i.hash, 'hex'), k.id, string_to_array(i.scopes, ' '),
      now() + make_interval(secs => ${lifetimeSeconds})
    from locked_clients k join unnest(${tokens.map(({ hash }) => hash)}::text[], ${tokens.map(({ clientId }) => clientId)}::int8[],
      ${tokens.map(({ scopes }) => scopes.join(' '))}::text[]) as i(hash, client_id, scopes) on i.client_id = k.id`
  if (count === tokens.length) return new Set()
  const there = await sql<{ id: number }[]>`
    select id from clients where community_id = ${communityId} and id = any (${clientIds}::int8[])`
  return new Set(clientIds.filter((wanted) => there.every(({ id }) => id !== wanted)))
}

/** Returns false if the assertion was accepted before, by whichever node. */
export async function insertAssertion(
  sql: Queries,
  { communityId, clientId }: { communityId: number; clientId: number },
  jtiHash: Buffer,
  expiresAt: number,
): Promise<boolean> {
  const { count } = await sql`
    insert into client_assertions (community_id, client_id, jti_hash, expires_at)
    values (${communityId}, ${clientId}, ${jtiHash}, to_timestamp(${expiresAt}::float8)) on conflict do nothing`
  return count === 1
}

export async function markTokenRevoked(sql: Queries, communityId: number, hash: string): Promise<void> {
  await sql`
    update tokens set revoked_at = now()
    where community_id = ${communityId} and hash = decode(${hash}, 'hex') and revoked_at is null`
}
