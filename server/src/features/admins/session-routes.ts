import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { Done, FormText, Nullable } from '../../http/console/admin-shapes.ts'
import { browserToken, clearSessionCookie } from '../../http/console/admin-frame.ts'
import { refundOverloaded } from '../../http/console/sign-in-limits.ts'
import type { Deps } from '../../http/deps.ts'
import { parseId } from '../../http/shared/ids.ts'
import { because } from '../../core/reasons.ts'
import { NotFound } from '../../core/refusal.ts'
import { isAwaited } from '../../http/shared/time-limit.ts'
import { enter } from '../second-factor/second-step.ts'
import { Language, OpenSession, Session } from './admin-schema.ts'
import { auditInAllCommunities } from './create-admin.ts'
import { passwordChangedMail } from './mails.ts'
import { endSession, endSessionsOf, listSessions, updateLanguage } from './queries.ts'
import { setUp, setUpState } from './set-up.ts'
import { openSession, presentSession, sendSession } from './start-session.ts'
import { changePassword, signIn, type Origin } from './sign-in.ts'
import { notifyPerson } from './notify-person.ts'

const TAGS = ['Sessions']

export function sessionRoutes(api: AdminApi, deps: Deps): void {
  const { sql, signInLimits, mailer } = deps

  function attemptOrigin(request: FastifyRequest, reply: FastifyReply): Origin {
    return { address: request.ip, browser: browserToken(deps, request), isWanted: () => isAwaited(reply) }
  }

  api.get('/setup', {
    config: { role: 'nobody' },
    schema: {
      summary: 'Whether there is an administrator yet',
      tags: TAGS,
      response: {
        200: Type.Object({
          data: Type.Object(
            {
              needed: Type.Boolean(),
              community_needed: Type.Boolean(),
              mail: Type.Boolean({ description: 'The service can send mail' }),
            },
            { title: 'SetupState' },
          ),
        }),
      },
    },
    handler: async () => ({ data: { ...(await setUpState(sql)), mail: mailer.isOn } }),
  })

  api.post('/setup', {
    config: { role: 'nobody', errors: ['sign_in_failed', 'link_expired', 'rate_limited'] },
    schema: {
      summary: 'Make the first administrator, by the link that the server printed',
      tags: TAGS,
      body: Type.Object({
        link: FormText,
        name: FormText,
        email: FormText,
        password: FormText,
        community_name: Type.Optional(FormText),
        time_zone: Type.Optional(FormText),
        language: Type.Optional(FormText),
      }),
      response: { 201: Type.Object({ data: Session }) },
    },
    handler: async (request, reply) => {
      const attempt = { address: request.ip, account: 'set-up' }
      await signInLimits.spend(attempt)
      const settingUp = setUp(sql, request.body, () => isAwaited(reply))
      const entrant = await refundOverloaded(signInLimits, attempt, settingUp)
      return reply.code(201).send(await enter(deps, entrant, request, reply))
    },
  })

  api.post('/session', {
    config: { role: 'nobody', errors: ['sign_in_failed', 'second_step_required', 'rate_limited'] },
    schema: {
      summary: 'Sign in',
      tags: TAGS,
      body: Type.Object({ email: FormText, password: FormText }),
      response: { 200: Type.Object({ data: Session }) },
    },
    handler: async (request, reply) => {
      const entrant = await signIn(deps, request.body, attemptOrigin(request, reply))
      return enter(deps, entrant, request, reply, (tx) =>
        auditInAllCommunities(tx, 'self', entrant.id, 'admin.signed_in', { address: request.ip }),
      )
    },
  })

  api.get('/session', {
    config: { role: 'session', beforePasswordChange: true },
    schema: { summary: 'Who is signed in', tags: TAGS, response: { 200: Type.Object({ data: Session }) } },
    handler: async (request) => presentSession(deps, request.session),
  })

  api.put('/session/language', {
    config: { role: 'session' },
    schema: {
      summary: 'Choose the language of the console, or leave it to the community and the browser',
      tags: TAGS,
      body: Type.Object({ language: Nullable(Language) }),
      response: { 200: Type.Object({ data: Session }) },
    },
    handler: async ({ session, body: { language } }) => {
      await updateLanguage(sql, session.admin.id, language)
      return presentSession(deps, { ...session, admin: { ...session.admin, language } })
    },
  })

  api.delete('/session', {
    config: { role: 'session', beforePasswordChange: true },
    schema: { summary: 'Sign out', tags: TAGS, response: { 200: Done } },
    handler: async (request, reply) => {
      await endSession(sql, request.session.admin.id, request.session.id)
      clearSessionCookie(deps, reply)
      return { data: {} }
    },
  })

  api.post('/password', {
    config: { role: 'session', beforePasswordChange: true, errors: ['sign_in_failed', 'rate_limited'] },
    schema: {
      summary: 'Choose another password; ends the other sessions',
      tags: TAGS,
      body: Type.Object({ current_password: FormText, new_password: FormText }),
      response: { 200: Type.Object({ data: Session }) },
    },
    handler: async (request, reply) => {
      const { session, body } = request
      const adminId = session.admin.id
      const origin = attemptOrigin(request, reply)
      const token = await changePassword(sql, session, signInLimits, body, origin, (tx) =>
        openSession(tx, adminId, request),
      )
      notifyPerson(deps, session.admin, passwordChangedMail)
      return sendSession(deps, { adminId, token }, request, reply)
    },
  })

  api.get('/sessions', {
    config: { role: 'session' },
    schema: {
      summary: 'Where the caller is signed in',
      tags: TAGS,
      response: { 200: Type.Object({ data: Type.Array(OpenSession) }) },
    },
    handler: async ({ session }) => {
      const rows = await listSessions(sql, session.admin.id)
      return { data: rows.map((row) => ({ ...row, current: row.id === session.id })) }
    },
  })

  api.delete('/sessions/:id', {
    config: { role: 'session' },
    schema: {
      summary: 'End a session of the caller',
      tags: TAGS,
      params: Type.Object({ id: Type.String() }),
      response: { 200: Done },
    },
    handler: async ({ session, params }) => {
      const id = parseId(params.id)
      if (!id || !(await endSession(sql, session.admin.id, id))) throw new NotFound(because('no_such_session'))
      return { data: {} }
    },
  })

  api.post('/sessions/end-others', {
    config: { role: 'session' },
    schema: { summary: 'Sign out everywhere else', tags: TAGS, response: { 200: Done } },
    handler: async ({ session }) => {
      await endSessionsOf(sql, session.admin.id, session.id)
      return { data: {} }
    },
  })
}
