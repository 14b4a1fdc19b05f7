import { Type } from 'typebox'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { browserToken } from '../../http/console/admin-frame.ts'
import { Done, FormText } from '../../http/console/admin-shapes.ts'
import type { Deps } from '../../http/deps.ts'
import { isAwaited } from '../../http/shared/time-limit.ts'
import { Session } from '../admins/admin-schema.ts'
import { secondFactorMail } from '../admins/mails.ts'
import { notifyPerson } from '../admins/notify-person.ts'
import { confirmApp, makeRecoveryCodes, readSecondFactor, removeApp, startApp } from './change-factor.ts'
import { siteOf } from './passkeys.ts'
import { prove } from './prove.ts'
import { PasskeySignature, RecoveryCodes, SecondFactor } from './schema.ts'
import { finishSignIn } from './second-step.ts'

const TAGS = ['Second factor']

export function secondFactorRoutes(api: AdminApi, deps: Deps): void {
  const { sql, config } = deps

  api.post('/session/second-factor', {
    config: { role: 'nobody', errors: ['second_step_expired', 'sign_in_failed', 'rate_limited'] },
    schema: {
      summary: 'Complete a sign-in with the second factor',
      description: 'After `POST /session` answered `second_step_required`. At most five tries within ten minutes.',
      tags: TAGS,
      body: Type.Object({
        code: Type.Optional(FormText),
        recovery_code: Type.Optional(FormText),
        passkey: Type.Optional(PasskeySignature),
      }),
      response: { 200: Type.Object({ data: Session }) },
    },
    handler: (request, reply) => finishSignIn(deps, request.body, request, reply),
  })

  api.get('/session/proof', {
    config: { role: 'session', freshProof: true },
    schema: {
      summary: 'Whether the last proof is recent enough',
      description: 'For downloads, which cannot ask for proof themselves.',
      tags: TAGS,
      response: { 200: Done },
    },
    handler: async () => ({ data: {} }),
  })

  api.post('/session/proof', {
    config: { role: 'session', errors: ['rate_limited'] },
    schema: {
      summary: 'Prove again who is there, with the password or the second factor',
      tags: TAGS,
      body: Type.Object({
        password: Type.Optional(FormText),
        code: Type.Optional(FormText),
        recovery_code: Type.Optional(FormText),
        passkey: Type.Optional(PasskeySignature),
      }),
      response: { 200: Done },
    },
    handler: async (request, reply) => {
      const isWanted = () => isAwaited(reply)
      const origin = { address: request.ip, browser: browserToken(deps, request), isWanted }
      await prove(deps, request.session, request.body, origin, siteOf(config, request))
      return { data: {} }
    },
  })

  api.get('/second-factor', {
    config: { role: 'session' },
    schema: {
      summary: 'The second factor of the caller',
      tags: TAGS,
      response: { 200: Type.Object({ data: SecondFactor }) },
    },
    handler: async ({ session }) => ({ data: await readSecondFactor(sql, session) }),
  })

  api.post('/second-factor/app', {
    config: { role: 'session', freshProof: true },
    schema: {
      summary: 'Begin to set up an authenticator app',
      tags: TAGS,
      response: {
        201: Type.Object({
          data: Type.Object(
            {
              secret: Type.String({ description: 'Base32' }),
              address: Type.String({ description: 'An otpauth: address, for a QR code' }),
            },
            { title: 'NewApp' },
          ),
        }),
      },
    },
    handler: async ({ session }, reply) => reply.code(201).send({ data: await startApp(deps, session) }),
  })

  api.post('/second-factor/app/confirm', {
    config: { role: 'session', freshProof: true },
    schema: {
      summary: 'Confirm an authenticator app with a code; ends the other sessions',
      tags: TAGS,
      body: Type.Object({ code: FormText }),
      response: { 200: Type.Object({ data: RecoveryCodes }) },
    },
    handler: async ({ session, body }) => {
      const recovery_codes = await confirmApp(deps, session, body.code)
      notifyPerson(deps, session.admin, (to) => secondFactorMail(to, 'app_added'))
      return { data: { recovery_codes } }
    },
  })

  api.delete('/second-factor/app', {
    config: { role: 'session', freshProof: true },
    schema: { summary: 'Remove the authenticator app; ends the other sessions', tags: TAGS, response: { 200: Done } },
    handler: async ({ session }) => {
      await removeApp(sql, session)
      notifyPerson(deps, session.admin, (to) => secondFactorMail(to, 'app_removed'))
      return { data: {} }
    },
  })

  api.post('/second-factor/recovery-codes', {
    config: { role: 'session', freshProof: true },
    schema: {
      summary: 'Replace the recovery codes; ends the other sessions',
      tags: TAGS,
      response: { 201: Type.Object({ data: RecoveryCodes }) },
    },
    handler: async ({ session }, reply) => {
      const recovery_codes = await makeRecoveryCodes(sql, session)
      notifyPerson(deps, session.admin, (to) => secondFactorMail(to, 'codes_replaced'))
      return reply.code(201).send({ data: { recovery_codes } })
    },
  })
}
