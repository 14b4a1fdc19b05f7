import { Json, type Queries } from '../../postgres/connect.ts'
import type { PublicKey } from '../../crypto/public-keys.ts'

interface ClientIds {
  community_id: number
  id: number
}

export async function insertKey(
  sql: Queries,
  { community_id, id }: ClientIds,
  { jwk, thumbprint }: PublicKey,
): Promise<void> {
  await sql`
    insert into client_keys (community_id, client_id, thumbprint, jwk)
    values (${community_id}, ${id}, ${thumbprint}, ${new Json(jwk)})`
}

export async function deleteKey(sql: Queries, { community_id, id }: ClientIds, thumbprint: string): Promise<void> {
  await sql`
    delete from client_keys where community_id = ${community_id} and client_id = ${id} and thumbprint = ${thumbprint}`
}

export async function updateJwksUrl(sql: Queries, { community_id, id }: ClientIds, jwksUrl: string): Promise<void> {
  await sql`
    update clients set jwks_url = ${jwksUrl}, jwks_url_set_at = now()
    where community_id = ${community_id} and id = ${id}`
}
