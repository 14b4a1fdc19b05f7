import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Transaction } from '../../postgres/connect.ts'
import { Done } from '../../http/console/admin-shapes.ts'
import { adminActor } from '../audit/admin-actor.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { requireFreshProof } from '../../http/console/admin-frame.ts'
import { once, type KeyedRequest } from '../../http/console/request-once.ts'
import { IfMatch, requireVersion, Version, VERSION_ERRORS } from '../../http/console/versions.ts'
import type { Deps } from '../../http/deps.ts'
import { API_PREFIX } from '../../http/partner/frame.ts'
import { requireCentihours } from '../../core/hours.ts'
import type { Scope } from '../../core/scopes.ts'
import { requireId } from '../../http/shared/ids.ts'
import { LONG_WORK_MS } from '../../http/shared/time-limit.ts'
import { finishList, PageMeta, PageQuery, readListRequest } from '../../http/shared/paging.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { findPartnerOverview, listPartnerOverviews } from './admin-queries.ts'
import {
  CreatedPartner,
  Credentials,
  ExpiryBody,
  NewClientBody,
  NewPartnerBody,
  Partner,
  PartnerChange,
  PartnerFilters,
  PartnerOverview,
  RotateBody,
} from './admin-schema.ts'
import { endGrace, reissueSecret, revokeClient, rotateSecret } from './change-client.ts'
import { changeExpiry, extendsAccess } from './change-expiry.ts'
import { keyRoutes, readAuthentication } from './key-routes.ts'
import { changePartner, deletePartner } from './change-partner.ts'
import { createClient, type NewCredentials } from './create-client.ts'
import { createPartner } from './create-partner.ts'
import { givesAccess } from './gives-access.ts'
import { partnerVersion, presentClient, presentCredentials, presentPartner } from './present-partner.ts'
import { countCallsPerDay, isExpiring, isUnused, listClients } from './queries.ts'

const CLIENTS_SHOWN_MAX = 100
const CALL_DAYS = 7
const PARTNERS = ['Partners']
const CREDENTIALS = ['Credentials']
const PartnerParams = Type.Object({ slug: Type.String(), id: Type.String() })
const ClientParams = Type.Object({ slug: Type.String(), client_id: Type.String() })

export function partnerAdminRoutes(api: AdminApi, deps: Deps): void {
  partnerRoutes(api, deps)
  clientRoutes(api, deps)
  keyRoutes(api, deps)
}

function partnerRoutes(api: AdminApi, { sql, longSql, reads, config, epoch }: Deps): void {
  api.get('/communities/:slug/partners', {
    config: { role: 'viewer' },
    schema: {
      summary: 'The partners of the community, the newest first',
      tags: PARTNERS,
      querystring: Type.Object({ ...PageQuery, ...PartnerFilters }),
      response: { 200: Type.Object({ data: Type.Array(PartnerOverview), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { query, community } = request
      const list = await readListRequest(sql, await epoch(), 'admin partners', query)
      const page = { before: list.after?.id, limit: list.limit + 1 }
      const found = await reads.run(request, sql, (reader) => listPartnerOverviews(reader, community.id, query, page))
      const { rows, meta } = finishList(list, found, ({ id }) => ({ id }), request, reply, config.publicUrl)
      return { data: rows.map(presentPartner), meta }
    },
  })

  api.post('/communities/:slug/partners', {
    config: { role: 'owner', freshProof: true },
    schema: {
      summary: 'Make a partner and its first credentials',
      description:
        'The secret is in this answer, and never in another: sent again under the same key, the request gets a new one. ' +
        'With a public key there is none.',
      tags: PARTNERS,
      body: NewPartnerBody,
      response: { 200: Type.Object({ data: CreatedPartner }), 201: Type.Object({ data: CreatedPartner }) },
    },
    handler: async (request, reply) => {
      const { key, ...form } = request.body
      const { name, contact, scopes, rate_limit_per_minute, hours_per_day, allowed_addresses, ...keys } = form
      const input = {
        name,
        scopes,
        ...(contact !== undefined && { contact }),
        ...(rate_limit_per_minute !== undefined && { rateLimitPerMinute: rate_limit_per_minute }),
        ...(hours_per_day !== undefined && { dailyLimitCentihours: requireCentihours(hours_per_day, 'hours_per_day') }),
        ...(allowed_addresses && { allowedNetworks: allowed_addresses }),
      }
      const authentication = await readAuthentication(config, keys)
      const [actor, { id: communityId }] = [adminActor(request), request.community]
      const keyed = { adminId: request.session.admin.id, key, input: { partner: form } }
      const { made, replayed } = await once<
        NewCredentials<string | undefined> & { partnerId: number; scopes: Scope[] }
      >(sql, communityId, keyed, {
        make: (tx) => createPartner(tx, actor, communityId, input, authentication),
        idsOf: ({ id }) => [id],
        find: (tx, [id]) => reissueSecret(tx, actor, communityId, id!),
      })
      const credentials = presentCredentials(made, `${config.publicUrl}${API_PREFIX}`)
      const data = { partner_id: made.partnerId, scopes: made.scopes, ...credentials }
      return reply.code(replayed ? 200 : 201).send({ data })
    },
  })

  api.get('/communities/:slug/partners/:id', {
    config: { role: 'viewer' },
    schema: {
      summary: 'A partner with its credentials, without their secrets',
      tags: PARTNERS,
      params: PartnerParams,
      response: { 200: Type.Object({ data: Partner }) },
    },
    handler: async ({ community, params }) => {
      const partnerId = requireId(params.id, 'partner')
      const partner = await findPartnerOverview(sql, community.id, partnerId)
      if (!partner) throw new NotFound(because('no_such_partner'))
      const rows = await listClients(sql, community.id, partnerId, CLIENTS_SHOWN_MAX)
      const calls = await countCallsPerDay(sql, community.id, partnerId, CALL_DAYS)
      const callsOf = new Map(calls.map(({ client_id, calls_per_day }) => [client_id, calls_per_day]))
      const clients = rows.map((row) => presentClient(row, callsOf.get(row.id) ?? 0))
      const removable = await isUnused(sql, community.id, partnerId)
      return { data: { ...presentPartner(partner), clients, removable } }
    },
  })

  api.patch('/communities/:slug/partners/:id', {
    config: { role: 'owner', errors: [...VERSION_ERRORS, 'proof_required'], answerWithinMs: LONG_WORK_MS },
    schema: {
      summary: 'Change, suspend or resume a partner',
      description:
        'Live tokens follow at once. Suspending needs no version, because it must not wait. Only what gives more ' +
        'access needs a fresh proof.',
      tags: PARTNERS,
      params: PartnerParams,
      headers: IfMatch,
      body: PartnerChange,
      response: { 200: Type.Object({ data: Type.Object({ version: Version }) }) },
    },
    handler: async (request) => {
      const { name, contact, scopes, status, rate_limit_per_minute, hours_per_day, allowed_addresses } = request.body
      const change = {
        ...(name !== undefined && { name }),
        ...(contact !== undefined && { contact }),
        ...(scopes && { scopes }),
        ...(status && { status }),
        ...(rate_limit_per_minute !== undefined && { rate_limit_per_minute }),
        ...(hours_per_day !== undefined && {
          daily_limit_centihours: requireCentihours(hours_per_day, 'hours_per_day'),
        }),
        ...(allowed_addresses && { allowed_networks: allowed_addresses }),
      }
      if (Object.keys(change).length === 0) throw new Refusal(because('nothing_to_change'))
      const id = requireId(request.params.id, 'partner')
      const isSuspension = status === 'suspended' && Object.keys(change).length === 1
      // With more access, everything that was held meanwhile is sent.
      const pool = status === 'active' || scopes ? longSql : sql
      const after = await changePartner(pool, adminActor(request), request.community.id, id, change, (before) => {
        if (givesAccess(before, change)) requireFreshProof(request.session)
        if (!isSuspension) requireVersion(request, partnerVersion(before))
      })
      return { data: { version: partnerVersion(after) } }
    },
  })

  api.delete('/communities/:slug/partners/:id', {
    config: { role: 'owner' },
    schema: {
      summary: 'Delete a partner that was never used',
      tags: PARTNERS,
      params: PartnerParams,
      response: { 200: Done },
    },
    handler: async (request) => {
      await deletePartner(sql, adminActor(request), request.community.id, requireId(request.params.id, 'partner'))
      return { data: {} }
    },
  })
}

function clientRoutes(api: AdminApi, { sql, longSql, config }: Deps): void {
  const apiUrl = `${config.publicUrl}${API_PREFIX}`

  /** A repeated request gets a new secret, because the first one was never seen. */
  function issueOnce(
    request: FastifyRequest,
    { key, input }: Pick<KeyedRequest, 'key' | 'input'>,
    make: (tx: Transaction) => Promise<NewCredentials<string | undefined>>,
  ) {
    const [actor, { id: communityId }] = [adminActor(request), request.community]
    return once<NewCredentials<string | undefined>>(
      sql,
      communityId,
      { adminId: request.session.admin.id, key, input },
      { make, idsOf: ({ id }) => [id], find: (tx, [id]) => reissueSecret(tx, actor, communityId, id!) },
    )
  }

  api.post('/communities/:slug/partners/:id/clients', {
    config: { role: 'owner', freshProof: true },
    schema: {
      summary: 'Create another client for a partner',
      description: 'The secret is in this answer, and never in another.',
      tags: CREDENTIALS,
      params: PartnerParams,
      body: NewClientBody,
      response: { 200: Type.Object({ data: Credentials }), 201: Type.Object({ data: Credentials }) },
    },
    handler: async (request, reply) => {
      const { key, ...form } = request.body
      const { name = '', scopes, expires_at: expiresAt, ...keys } = form
      const authentication = await readAuthentication(config, keys)
      const input = { name, ...(scopes && { scopes }), expiresAt }
      const partnerId = requireId(request.params.id, 'partner')
      const { made, replayed } = await issueOnce(request, { key, input: { client: form, partnerId } }, (tx) =>
        createClient(tx, adminActor(request), request.community.id, partnerId, input, authentication),
      )
      return reply.code(replayed ? 200 : 201).send({ data: presentCredentials(made, apiUrl) })
    },
  })

  api.post('/communities/:slug/clients/:client_id/rotate', {
    config: { role: 'owner', freshProof: true },
    schema: {
      summary: 'Give a client a new secret',
      description: 'The secret is in this answer, and never in another. The old one stays valid for the grace period.',
      tags: CREDENTIALS,
      params: ClientParams,
      body: RotateBody,
      response: { 200: Type.Object({ data: Credentials }) },
    },
    handler: async (request) => {
      const { params, community } = request
      const { key, grace } = request.body
      const input = { rotated: params.client_id, grace }
      const { made } = await issueOnce(request, { key, input }, (tx) =>
        rotateSecret(tx, adminActor(request), params.client_id, grace, community.id),
      )
      return { data: presentCredentials(made, apiUrl) }
    },
  })

  api.post('/communities/:slug/clients/:client_id/expiry', {
    config: { role: 'owner', errors: ['proof_required'], answerWithinMs: LONG_WORK_MS },
    schema: {
      summary: 'Choose when a client expires',
      description: 'Only a later time, or none, needs a fresh proof.',
      tags: CREDENTIALS,
      params: ClientParams,
      body: ExpiryBody,
      response: { 200: Done },
    },
    handler: async (request) => {
      const { params, community, session } = request
      const { expires_at: at = null } = request.body
      // Everything that was held since a client expired is sent.
      const pool = (await isExpiring(sql, community.id, params.client_id)) ? longSql : sql
      await changeExpiry(pool, adminActor(request), params.client_id, at, community.id, (before) => {
        if (extendsAccess(before, at)) requireFreshProof(session)
      })
      return { data: {} }
    },
  })

  const withdrawals = [
    ['end-grace', 'End the old secret of a client now', endGrace],
    ['revoke', 'Revoke a client permanently; its tokens become invalid immediately', revokeClient],
  ] as const
  for (const [name, summary, withdraw] of withdrawals) {
    api.post(`/communities/:slug/clients/:client_id/${name}`, {
      config: { role: 'owner' },
      schema: { summary, tags: CREDENTIALS, params: ClientParams, response: { 200: Done } },
      handler: async (request) => {
        await withdraw(sql, adminActor(request), request.params.client_id, request.community.id)
        return { data: {} }
      },
    })
  }
}
