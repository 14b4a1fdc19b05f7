import { Type } from 'typebox'
import { Nullable } from '../../http/console/admin-shapes.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { toHours } from '../../core/hours.ts'
import type { Deps } from '../../http/deps.ts'
import { listOfficeMembers } from '../members/member-list-queries.ts'
import { searchPartners } from './queries.ts'

/** Limit per kind: what fits on the screen. */
const RESULTS_MAX = 8

const FoundMember = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    email: Nullable(Type.String()),
    external_id: Nullable(Type.String()),
    payment_reference: Type.String(),
    status: Type.Enum(['active', 'inactive']),
    balance_hours: Type.Number(),
  },
  { title: 'FoundMember' },
)
const FoundPartner = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    status: Type.Enum(['active', 'suspended']),
  },
  { title: 'FoundPartner' },
)

export function searchRoutes(api: AdminApi, { sql, reads }: Deps): void {
  api.get('/communities/:slug/search', {
    config: { role: 'viewer' },
    schema: {
      summary: 'Members and partners by the beginning of any word',
      description: 'Words of a name, an email address, the number of the office or a payment reference; all must fit.',
      tags: ['Search'],
      querystring: Type.Object({ q: Type.String({ format: 'text', maxLength: 200 }) }),
      response: {
        200: Type.Object({
          data: Type.Object(
            { members: Type.Array(FoundMember), partners: Type.Array(FoundPartner) },
            { title: 'SearchResults' },
          ),
        }),
      },
    },
    handler: async (request) => {
      const { community, query } = request
      const { q } = query
      if (q.trim() === '') return { data: { members: [], partners: [] } }
      const [{ rows: members }, partners] = await reads.run(request, sql, (reader) =>
        Promise.all([
          listOfficeMembers(reader, community.id, { limit: RESULTS_MAX - 1, after: undefined }, { q }),
          searchPartners(reader, community.id, q, RESULTS_MAX),
        ]),
      )
      const found = members.map(({ balance, ...member }) => ({ ...member, balance_hours: toHours(balance) }))
      return { data: { members: found, partners } }
    },
  })
}
