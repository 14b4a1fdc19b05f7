import { expect } from 'vitest'
import { createAdmin } from '../src/features/admins/create-admin.ts'
import type { AdminRole } from '../src/postgres/across-communities.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { hashPassword } from '../src/features/admins/passwords.ts'
import { updatePassword } from '../src/features/admins/queries.ts'
import { callNode, TESTER, type Answer, type Bank, type CallOptions } from './bank.ts'

export const PASSWORD = 'correct horse battery'

/** A browser of an administrator: keeps its cookies, sends its origin. */
export interface TestAdmin {
  id: number
  email: string
  /** Under the prefix; `/members` and the like under the community as well. */
  call(path: string, options?: CallOptions): Promise<Answer>
  /** That of the session. */
  cookie(): string | undefined
  /** As when a cookie has expired. */
  forget(cookie: string): void
}

const OUTSIDE = [
  '/alert-choices',
  '/password-reset',
  '/session',
  '/sessions',
  '/setup',
  '/second-factor',
  '/links',
  '/password',
  '/communities',
  '/openapi.json',
]

/** Calls as a browser does that nobody has signed in with yet. */
export function newBrowser(bank: Bank, slug = 'town'): Omit<TestAdmin, 'id' | 'email'> {
  const jar = new Map<string, string>()
  return {
    cookie: () => jar.get('hourbank_session'),
    forget: (name) => void jar.delete(name),
    async call(path, options = {}) {
      const isOutside = OUTSIDE.some((start) => path.startsWith(start))
      const cookie = [...jar.values()].join('; ')
      const answer = await callNode(bank.url, `${ADMIN_PREFIX}${isOutside ? '' : `/communities/${slug}`}${path}`, {
        ...options,
        // Any version, unless the test says which.
        headers: {
          origin: bank.url,
          ...(cookie && { cookie }),
          ...(options.method === 'PATCH' && { 'if-match': '*' }),
          ...options.headers,
        },
      })
      for (const set of answer.headers.getSetCookie()) jar.set(set.split('=')[0]!, set.split(';')[0]!)
      return answer
    },
  }
}

/** Follows the invitation of an owner as someone who has no account. */
export async function joinByLink(bank: Bank, owner: TestAdmin, email: string, slug = 'town') {
  const token = await inviteToken(owner, email)
  const browser = newBrowser(bank, slug)
  expect((await browser.call('/links/use', { body: { token, password: PASSWORD } })).status).toBe(200)
  return browser
}

/** The token of the link in the answer to an invitation. */
export async function inviteToken(owner: TestAdmin, email: string, role: AdminRole = 'manager'): Promise<string> {
  const { body } = await owner.call('/administrators', { body: { email, name: 'Somebody', role } })
  return new URL(body.data.link.url).hash.slice(1)
}

let count = 0
/** Hashed once: argon2 is slow on purpose. */
let passwordHash: Promise<string> | undefined

/** Signed in, with a password of their own. */
export async function addAdmin(
  bank: Bank,
  role: AdminRole = 'owner',
  communityId = bank.communityId,
  slug = 'town',
): Promise<TestAdmin> {
  const email = `${role}-${++count}@town.example`
  const { adminId } = await createAdmin(bank.sql, TESTER, communityId, { email, name: `The ${role}`, role })
  await updatePassword(bank.sql, adminId, { hash: await (passwordHash ??= hashPassword(PASSWORD)), oneTime: false })
  const browser = newBrowser(bank, slug)
  const answer = await browser.call('/session', { body: { email, password: PASSWORD } })
  expect(answer.status).toBe(200)
  return { ...browser, id: adminId, email }
}
