import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { Done, FormText } from '../../http/console/admin-shapes.ts'
import { IfMatch, requireVersion, VERSION_ERRORS, versionOf } from '../../http/console/versions.ts'
import type { Deps } from '../../http/deps.ts'
import { requireId } from '../../http/shared/ids.ts'
import { secondFactorMail } from '../admins/mails.ts'
import { notifyPerson } from '../admins/notify-person.ts'
import { addPasskey, changePasskey, removePasskey } from './change-passkeys.ts'
import { creationOptions, requestOptions, siteOf, type PasskeyCheck } from './passkeys.ts'
import { NewPasskey, PasskeyOptions, RecoveryCodes, SecondStep } from './schema.ts'
import { readSecondStep, startPasskeySignIn } from './second-step.ts'

const TAGS = ['Second factor']
const PasskeyParams = Type.Object({ id: Type.String() })
const Options = { 201: Type.Object({ data: PasskeyOptions }) }

export function passkeyRoutes(api: AdminApi, deps: Deps): void {
  const { sql, config } = deps

  function checkFor(request: FastifyRequest): PasskeyCheck {
    return { site: siteOf(config, request), owner: { sessionId: request.session.id } }
  }

  api.get('/session/second-factor', {
    config: { role: 'nobody', errors: ['second_step_expired'] },
    schema: {
      summary: 'What the person can complete the sign-in with',
      tags: TAGS,
      response: { 200: Type.Object({ data: SecondStep }) },
    },
    handler: async (request) => ({ data: await readSecondStep(deps, request) }),
  })

  api.post('/session/second-factor/passkey-options', {
    config: { role: 'nobody', errors: ['second_step_expired'] },
    schema: { summary: 'Begin to complete a sign-in with a passkey', tags: TAGS, response: Options },
    handler: async (request, reply) => reply.code(201).send({ data: await startPasskeySignIn(deps, request) }),
  })

  api.post('/session/proof/passkey-options', {
    config: { role: 'session' },
    schema: { summary: 'Begin to prove with a passkey who is there', tags: TAGS, response: Options },
    handler: async (request, reply) =>
      reply.code(201).send({ data: await requestOptions(sql, request.session.admin.id, checkFor(request)) }),
  })

  api.post('/second-factor/passkey-options', {
    config: { role: 'session', freshProof: true },
    schema: { summary: 'Begin to add a passkey', tags: TAGS, response: Options },
    handler: async (request, reply) => {
      const options = await creationOptions(sql, request.session.admin, checkFor(request))
      return reply.code(201).send({ data: { ...options } })
    },
  })

  api.post('/second-factor/passkeys', {
    config: { role: 'session', freshProof: true },
    schema: {
      summary: 'Add a passkey; ends the other sessions',
      tags: TAGS,
      body: Type.Object({ name: FormText, passkey: NewPasskey }),
      response: { 201: Type.Object({ data: RecoveryCodes }) },
    },
    handler: async (request, reply) => {
      const recovery_codes = await addPasskey(sql, request.session, request.body, checkFor(request))
      notifyPerson(deps, request.session.admin, (to) => secondFactorMail(to, 'passkey_added'))
      return reply.code(201).send({ data: { recovery_codes } })
    },
  })

  api.patch('/second-factor/passkeys/:id', {
    config: { role: 'session', errors: VERSION_ERRORS },
    schema: {
      summary: 'Rename a passkey',
      tags: TAGS,
      params: PasskeyParams,
      headers: IfMatch,
      body: Type.Object({ name: FormText }),
      response: { 200: Done },
    },
    handler: async (request) => {
      const id = requireId(request.params.id, 'passkey')
      await changePasskey(sql, request.session, id, request.body, (before) =>
        requireVersion(request, versionOf([before])),
      )
      return { data: {} }
    },
  })

  api.delete('/second-factor/passkeys/:id', {
    config: { role: 'session', freshProof: true },
    schema: {
      summary: 'Remove a passkey; ends the other sessions',
      tags: TAGS,
      params: PasskeyParams,
      response: { 200: Done },
    },
    handler: async ({ session, params }) => {
      await removePasskey(sql, session, requireId(params.id, 'passkey'))
      notifyPerson(deps, session.admin, (to) => secondFactorMail(to, 'passkey_removed'))
      return { data: {} }
    },
  })
}
