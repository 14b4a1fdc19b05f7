import { Type } from 'typebox'
import { Count, Nullable, presentCount, Time } from '../../http/console/admin-shapes.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import type { Deps } from '../../http/deps.ts'
import type { Sql } from '../../postgres/connect.ts'
import { toHours } from '../../core/hours.ts'
import { COUNT_MAX } from '../subscriptions/admin-queries.ts'
import { Attention } from './attention-schema.ts'
import {
  countActiveMembers,
  countCalls,
  countPartners,
  findReview,
  readFirstSteps,
  readWebhookHealth,
} from './queries.ts'
import { readAttention } from './read-attention.ts'
import { readMonths } from './read-months.ts'

const CALL_DAYS = 7
/** The others are on the page of partners. */
const PARTNERS_MAX = 5

/** More are found on the pages that the review leads to. */
const REVIEWED_MAX = 100

const Review = Type.Object(
  {
    backup_at: Time,
    partners: Type.Array(
      Type.Object({
        partner_id: Type.Integer(),
        name: Type.String(),
        clients: Type.Integer({ description: 'Clients that are not revoked' }),
        webhooks: Type.Integer({ description: 'Subscriptions that are active' }),
      }),
    ),
    administrators: Type.Array(Type.Object({ admin_id: Type.Integer(), name: Type.String(), role: Type.String() })),
  },
  { title: 'RestoreReview', description: 'Who has access again after a restore, until the partner API is switched on' },
)

const Overview = Type.Object(
  {
    attention: Type.Array(Attention, { description: 'What somebody should look at, the most urgent first' }),
    months: Type.Array(
      Type.Object(
        {
          month: Type.String({ description: 'Like 2026-01, in the time zone of the community' }),
          exchanges: Type.Integer(),
          hours_exchanged: Type.Number(),
          hours_credited: Type.Number(),
        },
        { title: 'MonthFigures' },
      ),
    ),
    active_members: Type.Integer(),
    call_days: Type.Integer(),
    partners: Type.Array(
      Type.Object(
        {
          partner_id: Type.Integer(),
          name: Type.String(),
          status: Type.Union([Type.Literal('active'), Type.Literal('suspended')]),
          calls: Type.Integer(),
          errors: Type.Integer(),
          last_call_at: Nullable(Time),
        },
        { title: 'CallsOfPartner' },
      ),
      { description: 'The few that called last' },
    ),
    partner_count: Type.Integer(),
    webhooks: Type.Object(
      {
        active: Type.Integer(),
        paused: Type.Integer(),
        disabled: Type.Integer(),
        failing: Type.Integer(),
        waiting: Count,
      },
      { title: 'WebhookCounts' },
    ),
    review: Nullable(Review),
    first_steps: Type.Object(
      {
        has_members: Type.Boolean(),
        has_partner: Type.Boolean(),
        has_call: Type.Boolean(),
        has_credit: Type.Boolean(),
      },
      { title: 'StepsTaken' },
    ),
  },
  { title: 'CommunityOverview' },
)

export function overviewRoutes(api: AdminApi, { sql, reads, config }: Deps): void {
  api.get('/communities/:slug/overview', {
    config: { role: 'viewer' },
    schema: {
      summary: 'The community at a glance',
      tags: ['Overview'],
      response: { 200: Type.Object({ data: Overview }) },
    },
    handler: async (request) => {
      const { id, time_zone } = request.community
      const hasEmbeddedDatabase = config.databaseUrl === undefined
      // One after the other, because partners use the same connections.
      const read = async (reader: Sql) => ({
        attention: await readAttention(reader, id, request.session, { hasEmbeddedDatabase }),
        months: await readMonths(reader, sql, id, time_zone),
        active_members: await countActiveMembers(reader, id),
        partners: await countCalls(reader, id, CALL_DAYS, PARTNERS_MAX),
        partner_count: await countPartners(reader, id),
        webhooks: await readWebhookHealth(reader, id, COUNT_MAX),
        review: await findReview(reader, id, REVIEWED_MAX),
        first_steps: await readFirstSteps(reader, id),
      })
      const { months, webhooks, review, ...figures } = await reads.run(request, sql, read)
      return {
        data: {
          ...figures,
          months: months.map(({ month, exchanges, centihours_exchanged, centihours_credited }) => ({
            month,
            exchanges,
            hours_exchanged: toHours(centihours_exchanged),
            hours_credited: toHours(centihours_credited),
          })),
          call_days: CALL_DAYS,
          webhooks: { ...webhooks, waiting: presentCount(webhooks.waiting, COUNT_MAX) },
          review: review ?? null,
        },
      }
    },
  })
}
