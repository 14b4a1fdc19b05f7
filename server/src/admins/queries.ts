import type { Queries } from '../db/connect.ts'

export type AdminRole = 'owner' | 'manager' | 'viewer'

export async function insertAdmin(
  sql: Queries,
  admin: { email: string; name: string; password_hash: string; password_one_time: boolean },
): Promise<number> {
  const [row] = await sql<[{ id: number }]>`insert into admins ${sql(admin)} returning id`
  return row.id
}

export async function updatePassword(sql: Queries, adminId: number, passwordHash: string): Promise<void> {
  await sql`
    update admins set password_hash = ${passwordHash}, password_one_time = true, updated_at = now() where id = ${adminId}`
}

export async function setAdminRole(sql: Queries, communityId: number, adminId: number, role: AdminRole): Promise<void> {
  await sql`
    insert into community_admins (community_id, admin_id, role) values (${communityId}, ${adminId}, ${role})
    on conflict (community_id, admin_id) do update set role = excluded.role`
}
