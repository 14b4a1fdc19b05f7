import { ApiError } from '../../http/shared/errors.ts'
import type { Queries } from '../../postgres/connect.ts'
import type { Actor } from '../audit/record.ts'
import { lockRoles, type RoleRow } from './queries.ts'

/**
 * Locks all roles of a community for a change that only its owners may make. The caller's role was checked before the
 * lock, and another owner may have taken it since. The command line needs no role.
 */
export async function lockRolesAsOwner(tx: Queries, actor: Actor, communityId: number): Promise<RoleRow[]> {
  const roles = await lockRoles(tx, communityId)
  const isOwner = roles.some(({ admin_id, role }) => admin_id === actor.id && role === 'owner')
  if (actor.kind === 'admin' && !isOwner) throw new ApiError('role_insufficient')
  return roles
}
