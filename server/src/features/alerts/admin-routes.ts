import { Type } from 'typebox'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { Done, Nullable, Time } from '../../http/console/admin-shapes.ts'
import type { AdminSession } from '../../http/console/sessions.ts'
import type { Deps } from '../../http/deps.ts'
import { finishList, PageMeta, PageQuery, readListRequest } from '../../http/shared/paging.ts'
import { ownsEveryCommunity } from '../../postgres/across-communities.ts'
import { en } from '../../mail/words/en.ts'
import { ALERT_KIND_NAMES, type AlertKind } from './kinds.ts'
import { listAlerts, listOpenAlerts, readChoices, saveChoices, type AlertRow } from './queries.ts'
import { listFailures, type OperatorRun } from './run-queries.ts'

const TAGS = ['Alerts']
const OPEN_MAX = 100

const Kind = Type.Unsafe<AlertKind>({
  title: 'AlertKind',
  type: 'string',
  enum: ALERT_KIND_NAMES,
  description: ALERT_KIND_NAMES.map((kind) => `${kind}: ${en.alert.titles[kind]}.`).join(' '),
})

const Alert = Type.Object(
  {
    id: Type.Integer({ description: '0 for what concerns the whole service' }),
    kind: Kind,
    subject_id: Type.Integer({ description: 'The subscription, the partner or the client; 0 for none' }),
    detail: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
    raised_at: Time,
    ended_at: Nullable(Time),
  },
  { title: 'Alert' },
)

const Kinds = Type.Array(Kind, { maxItems: ALERT_KIND_NAMES.length, uniqueItems: true })
const Choices = { by_mail: Kinds, in_console: Kinds }

export function alertRoutes(api: AdminApi, { sql, epoch, config, mailer }: Deps): void {
  api.get('/communities/:slug/alerts', {
    config: { role: 'viewer' },
    schema: {
      summary: 'What administrators were told of, the newest first',
      tags: TAGS,
      querystring: Type.Object(PageQuery),
      response: { 200: Type.Object({ data: Type.Array(Alert), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const list = await readListRequest(sql, await epoch(), 'admin alerts', request.query)
      const found = await listAlerts(sql, request.community.id, list)
      const { rows, meta } = finishList(list, found, ({ id }) => ({ id }), request, reply, config.publicUrl)
      return { data: rows, meta }
    },
  })

  api.get('/communities/:slug/alerts/open', {
    config: { role: 'viewer' },
    schema: {
      summary: 'What is out of order now, as far as the caller wants to see it',
      description: 'What concerns the whole service is only for somebody who owns all of its communities.',
      tags: TAGS,
      response: { 200: Type.Object({ data: Type.Array(Alert) }) },
    },
    handler: async ({ community, session }) => {
      const [open, ofService] = await Promise.all([
        listOpenAlerts(sql, community.id, session.admin.id, OPEN_MAX),
        findServiceAlerts(session),
      ])
      return { data: [...ofService, ...open] }
    },
  })

  api.get('/alert-choices', {
    config: { role: 'session' },
    schema: {
      summary: 'What the caller wants to be told of',
      tags: TAGS,
      response: {
        200: Type.Object({
          data: Type.Object(
            { ...Choices, mail: Type.Boolean({ description: 'The service can send mail' }) },
            { title: 'AlertChoices' },
          ),
        }),
      },
    },
    handler: async ({ session }) => {
      const { by_mail, in_console } = await readChoices(sql, session.admin.id)
      // Until somebody chooses, owners get everything by mail; their communities decide who is one.
      return {
        data: {
          by_mail: by_mail ?? ALERT_KIND_NAMES,
          in_console: in_console ?? ALERT_KIND_NAMES,
          mail: mailer.isOn,
        },
      }
    },
  })

  api.put('/alert-choices', {
    config: { role: 'session' },
    schema: {
      summary: 'Choose what to be told of',
      tags: TAGS,
      body: Type.Object(Choices, { title: 'AlertChoicesBody' }),
      response: { 200: Done },
    },
    handler: async ({ session, body }) => {
      await saveChoices(sql, session.admin.id, body)
      return { data: {} }
    },
  })

  async function findServiceAlerts(session: AdminSession): Promise<AlertRow[]> {
    const failures = await listFailures(sql)
    if (failures.length === 0 || session.community?.role !== 'owner') return []
    if (!(await ownsEveryCommunity(sql, session.admin.id))) return []
    const { in_console } = await readChoices(sql, session.admin.id)
    return failures.map(presentFailure).filter(({ kind }) => in_console === null || in_console.includes(kind))
  }
}

function presentFailure({ kind, failed_at, failure, detail }: OperatorRun): AlertRow {
  return {
    id: 0,
    kind: kind === 'backup' ? 'backup_failed' : 'disk_low',
    subject_id: 0,
    detail: { ...detail, reason: failure ?? '' },
    raised_at: failed_at!,
    ended_at: null,
  }
}
