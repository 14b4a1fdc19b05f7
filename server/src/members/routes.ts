import { Type } from 'typebox'
import type { Deps } from '../http/deps.ts'
import { PageMeta, PageQuery, readCursor, toPage } from '../http/paging.ts'
import type { PartnerApi } from '../http/partner-api.ts'
import { listMembers, type MemberRow } from './queries.ts'
import { Member } from './schema.ts'

export function memberRoutes(api: PartnerApi, { sql }: Deps): void {
  api.get('/users', {
    config: { scope: 'users.read' },
    schema: {
      operationId: 'listUsers',
      summary: 'List active members',
      description: 'With the additional scope users.pii each member includes email.',
      tags: ['Members'],
      querystring: Type.Object(PageQuery),
      response: { 200: Type.Object({ data: Type.Array(Member), meta: PageMeta }) },
    },
    handler: async (request) => {
      const { communityId, scopes } = request.caller
      const { limit, cursor } = request.query
      const found = await listMembers(sql, communityId, { afterId: readCursor(cursor), limit: limit! })
      const { rows, meta } = toPage(found, limit)
      return { data: rows.map((row) => presentMember(row, scopes.includes('users.pii'))), meta }
    },
  })
}

function presentMember(row: MemberRow, withEmail: boolean) {
  const { email, joined_at, updated_at, ...rest } = row
  return {
    ...rest,
    ...(withEmail && { email }),
    joined_at: joined_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
