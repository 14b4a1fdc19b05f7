import { Type } from 'typebox'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { Done, FormText, Nullable, Time } from '../../http/console/admin-shapes.ts'
import type { Deps } from '../../http/deps.ts'
import { foldCase } from '../../http/console/attempt-queries.ts'
import { refundOverloaded } from '../../http/console/sign-in-limits.ts'
import { isAwaited } from '../../http/shared/time-limit.ts'
import { enter } from '../second-factor/second-step.ts'
import { acceptInvitation, createInvitedAdmin, inspectInvitation } from './accept-invitation.ts'
import { Role, Session } from './admin-schema.ts'
import { communityOfInvitation } from './invite-admin.ts'
import { inspectResetLink, resetByLink } from './links.ts'
import { mailInvitationAgain, mailReset } from './mail-links.ts'
import { passwordChangedMail, roleMail } from './mails.ts'
import { findAdminById } from './queries.ts'
import { presentSession } from './start-session.ts'
import { notifyPerson } from './notify-person.ts'

const TAGS = ['Sessions']
const LINK_ERRORS = ['link_expired', 'rate_limited'] as const

const LinkState = Type.Object(
  {
    purpose: Type.Enum(['invitation', 'reset']),
    email: Type.String(),
    invitation: Nullable(
      Type.Object({
        community: Type.String(),
        role: Role,
        name: Type.String({ description: 'As the owner wrote it' }),
      }),
    ),
    expires_at: Time,
  },
  { title: 'LinkState' },
)

/** What one-time links lead to. Whether there is an account for the email address is not answered to anyone. */
export function linkRoutes(api: AdminApi, deps: Deps): void {
  const { sql, signInLimits } = deps

  /** A token cannot be guessed, but trying must not be free. */
  async function limited<T>(address: string, work: () => Promise<T>): Promise<T> {
    const attempt = { address, account: 'link' }
    await signInLimits.spend(attempt)
    const result = await refundOverloaded(signInLimits, attempt, work())
    await signInLimits.forgive(attempt)
    return result
  }

  api.post('/links/inspect', {
    config: { role: 'nobody', errors: [...LINK_ERRORS] },
    schema: {
      summary: 'What a one-time link is for',
      tags: TAGS,
      body: Type.Object({ token: FormText }),
      response: { 200: Type.Object({ data: LinkState }) },
    },
    handler: ({ ip, body: { token } }) =>
      limited(ip, async () => {
        const invitation = await inspectInvitation(sql, token)
        if (!invitation) {
          const { email, expires_at } = await inspectResetLink(sql, token)
          return { data: { purpose: 'reset' as const, email, invitation: null, expires_at } }
        }
        const { email, community, role, name, expires_at } = invitation
        return { data: { purpose: 'invitation' as const, email, invitation: { community, role, name }, expires_at } }
      }),
  })

  api.post('/links/use', {
    config: { role: 'nobody', errors: [...LINK_ERRORS, 'sign_in_failed', 'second_step_required'] },
    schema: {
      summary: 'Choose a password by a one-time link, and sign in',
      description:
        'By an invitation: creates an account, with the offered role. A person who already has one signs in and accepts.',
      tags: TAGS,
      body: Type.Object({ token: FormText, password: FormText, name: Type.Optional(FormText) }),
      response: { 200: Type.Object({ data: Session }) },
    },
    handler: async (request, reply) => {
      const { token, password } = request.body
      const isWanted = () => isAwaited(reply)
      const isInvitation = communityOfInvitation(token) !== undefined
      const entrant = await limited(request.ip, () =>
        isInvitation ? createInvitedAdmin(sql, request.body, isWanted) : resetByLink(sql, token, password, isWanted),
      )
      if (!isInvitation) notifyPerson(deps, (await findAdminById(sql, entrant.id))!, passwordChangedMail)
      return enter(deps, entrant, request, reply)
    },
  })

  api.post('/links/send-again', {
    config: { role: 'nobody', errors: ['rate_limited'] },
    schema: {
      summary: 'Mail a new link in place of a mailed invitation that has expired',
      tags: TAGS,
      body: Type.Object({ token: FormText }),
      response: { 200: Done },
    },
    handler: async ({ ip, body: { token } }) => {
      await signInLimits.spend({ address: ip, account: 'link' })
      mailInvitationAgain(deps, token)
      return { data: {} }
    },
  })

  api.post('/password-reset', {
    config: { role: 'nobody', errors: ['rate_limited'] },
    schema: {
      summary: 'Mail a link for a new password',
      description: 'The answer is the same whether or not there is such an account.',
      tags: TAGS,
      body: Type.Object({ email: FormText }),
      response: { 200: Done },
    },
    handler: async ({ ip, body: { email } }) => {
      const account = `reset ${await foldCase(sql, email.trim())}`
      await signInLimits.spend({ address: ip, account, acrossAddresses: true })
      mailReset(deps, email)
      return { data: {} }
    },
  })

  api.post('/links/accept', {
    config: { role: 'session', errors: [...LINK_ERRORS] },
    schema: {
      summary: 'Accept an invitation with the account that is signed in',
      tags: TAGS,
      body: Type.Object({ token: FormText, name: Type.Optional(FormText) }),
      response: { 200: Type.Object({ data: Session }) },
    },
    handler: (request) =>
      limited(request.ip, async () => {
        const { community, role } = await acceptInvitation(sql, request.session, request.body)
        notifyPerson(deps, request.session.admin, (to) => roleMail(to, community, role))
        return presentSession(deps, request.session)
      }),
  })
}
