import { expect, test } from 'vitest'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { revokeClient } from '../src/features/partners/change-client.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { callNode, eventually, fetchToken, TESTER, type Answer, type CallOptions } from './bank.ts'
import { from } from './oauth.ts'
import { contentOf, MARK, startWorld, type World } from './matrix-world.ts'
import {
  kindsIn,
  namesIdsInBody,
  pathFor,
  queryFor,
  readOperations,
  requestFor,
  unknownAmong,
  type Operation,
} from './matrix-operations.ts'

const PARTNER_OPERATIONS = readOperations('openapi.json', '/api/partner/v1')
const CONSOLE_OPERATIONS = readOperations('console/openapi.json', '/api/admin/v1')
/** Of a partner, not of its community. */
const PARTNERS_OWN = new Set(['subscription', 'delivery', 'credit'])
const EXPIRED_AT = '2020-01-01T00:00:00Z'

/** Counts calls and collects answers that should have been others. */
function createScore() {
  const wrong: string[] = []
  let calls = 0
  return {
    judge(what: string, answer: Answer, isRight: (answer: Answer) => boolean) {
      calls += 1
      const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
      if (!isRight(answer)) wrong.push(`${what}: ${answer.status} ${text.slice(0, 200)}`)
    },
    report(api: string) {
      process.stdout.write(`${api}: ${calls} calls, ${wrong.length} wrong answers\n`)
      expect(wrong).toEqual([])
    },
  }
}

/** What removes something comes last, so that the others still find it. */
const LAST = /^DELETE|\/(erase|leave|revoke|reverse|end-grace)$/
const removalsLast = (operations: Operation[]) =>
  operations.toSorted((one, other) => Number(LAST.test(one.name)) - Number(LAST.test(other.name)))
/** Otherwise the refusals above would prove nothing. 409: in a state in which there is nothing to do. */
const isAccepted = ({ status }: Answer) => status < 300 || status === 409

const answered = (status: number, error?: string) => (answer: Answer) =>
  answer.status === status && (error === undefined || answer.body.error === error)
/** A batch answers 200, and its items are rejected one by one. */
const isForeignIdUnknown = ({ name }: Operation) =>
  name.endsWith('/batch')
    ? ({ body }: Answer) => body.data?.every((item: { result: string }) => item.result === 'user_not_found')
    : answered(404)
const hasNoMark = ({ body }: Answer) => !JSON.stringify(body).includes(MARK)
const isRefused = ({ status }: Answer) => status >= 400 && status < 500

test('the matrix knows every operation of both APIs', () => {
  expect(unknownAmong([...PARTNER_OPERATIONS, ...CONSOLE_OPERATIONS])).toEqual([])
  expect(CONSOLE_OPERATIONS.filter(({ role }) => !role)).toEqual([])
})

/** One access token for each way in which it is not enough. */
async function failingTokens({ bank, own }: World) {
  const newToken = async (change: (partnerId: number, clientId: string) => Promise<unknown>, scopes = SCOPE_NAMES) => {
    const partner = await bank.addPartner({ scopes })
    const token = await fetchToken(bank.url, partner)
    await change(partner.partnerId, partner.clientId)
    return token
  }
  const expire = (_partnerId: number, clientId: string) => bank.sql`
    update tokens t set expires_at = ${EXPIRED_AT} from clients c
    where t.community_id = ${own.id} and c.community_id = ${own.id} and c.public_id = ${clientId} and t.client_id = c.id`
  const change = (input: object) => (partnerId: number) => changePartner(bank.sql, TESTER, own.id, partnerId, input)
  const revoked = await bank.addPartner()
  const revokedToken = await fetchToken(bank.url, revoked)
  const credentials = { client_id: revoked.clientId, client_secret: revoked.clientSecret }
  await bank.call('/oauth/revoke', { body: { token: revokedToken, ...credentials } })
  return {
    'no token': [undefined, answered(401, 'authentication_required')],
    'an unknown token': [`hbt_${own.id}_${'0'.repeat(72)}`, answered(401, 'invalid_token')],
    'an expired token': [await newToken(expire), answered(401, 'invalid_token')],
    'a revoked token': [revokedToken, answered(401, 'invalid_token')],
    'a revoked client': [
      await newToken((_partnerId, clientId) => revokeClient(bank.sql, TESTER, clientId)),
      answered(401, 'invalid_token'),
    ],
    'an expired client': [
      await newToken(
        (_partnerId, clientId) => bank.sql`
          update clients set expires_at = now() where community_id = ${own.id} and public_id = ${clientId}`,
      ),
      answered(401, 'invalid_token'),
    ],
    'a suspended partner': [await newToken(change({ status: 'suspended' })), answered(401, 'invalid_token')],
    'another address': [await newToken(change({ allowed_networks: ['10.0.0.0/8'] })), answered(403, 'ip_not_allowed')],
  } satisfies Record<string, [string | undefined, (answer: Answer) => boolean]>
}

test('no operation of the partner API answers somebody who may not ask', async () => {
  const world = await startWorld()
  const { bank, own, foreign } = world
  const score = createScore()
  const guarded = PARTNER_OPERATIONS.filter(({ scopes }) => scopes.length > 0)
  const ask = (operation: Operation, ids: typeof own.partnerIds, token: string | undefined, query = '') =>
    callNode(bank.url, `${pathFor(operation, ids)}${query}`, {
      ...requestFor(operation, ids),
      token,
      // From its own address each, because failures are limited by address.
      headers: from(`203.0.113.${guarded.indexOf(operation)}`),
    })
  const failing = await failingTokens(world)
  const other = await bank.addPartner({ name: 'Neighbour' })
  const otherToken = await fetchToken(bank.url, other)
  const narrowTokens = new Map<string, string>()
  for (const { scopes } of guarded) {
    const rest = SCOPE_NAMES.filter((scope) => !scopes.includes(scope)).join(' ')
    narrowTokens.set(`${scopes}`, await fetchToken(bank.url, own.partner, rest))
  }
  const before = [await contentOf(bank.databaseUrl, own.id), await contentOf(bank.databaseUrl, foreign.id)]

  for (const operation of guarded) {
    const { name, scopes } = operation
    for (const [case_, [token, isRight]] of Object.entries(failing)) {
      score.judge(`${name}, ${case_}`, await ask(operation, own.partnerIds, token), isRight)
    }
    const narrow = narrowTokens.get(`${scopes}`)
    score.judge(
      `${name}, without its scope`,
      await ask(operation, own.partnerIds, narrow),
      answered(403, 'insufficient_scope'),
    )
    const kinds = kindsIn(operation)
    if (kinds.some((kind) => PARTNERS_OWN.has(kind))) {
      score.judge(`${name}, another partner's id`, await ask(operation, own.partnerIds, otherToken), answered(404))
    }
    if (kinds.length > 0) {
      score.judge(`${name}, another community's id`, await ask(operation, foreign.partnerIds, own.token), answered(404))
    }
    if (namesIdsInBody(operation)) {
      const answer = await ask(operation, foreign.partnerIds, own.token)
      score.judge(`${name}, another community's id in the body`, answer, isForeignIdUnknown(operation))
    }
    const query = queryFor(operation, foreign.partnerIds)
    if (query) {
      const answer = await ask(operation, own.partnerIds, own.token, query)
      score.judge(`${name}, another community's id in the query`, answer, hasNoMark)
    }
    if (operation.method === 'GET') {
      score.judge(`${name}, no trace of others`, await ask(operation, own.partnerIds, own.token), hasNoMark)
    }
  }
  const after = [await contentOf(bank.databaseUrl, own.id), await contentOf(bank.databaseUrl, foreign.id)]
  expect(after).toEqual(before)

  for (const operation of removalsLast(guarded)) {
    score.judge(`${operation.name}, allowed`, await ask(operation, own.partnerIds, own.token), isAccepted)
  }
  await switchPartnerApi(bank.sql, TESTER, own.id, { enabled: false, reason: 'Test' })
  // As after a command, the node hears of it within a second.
  await eventually(async () => (await ask(guarded[0]!, own.partnerIds, own.token)).status === 503)
  for (const operation of guarded) {
    const answer = await ask(operation, own.partnerIds, own.token)
    score.judge(`${operation.name}, switched off`, answer, answered(503, 'partner_api_disabled'))
  }
  score.report('partner API')
})

test('no operation of the console answers somebody who may not ask', async () => {
  const world = await startWorld()
  const { bank, own, foreign } = world
  const score = createScore()
  const ask = (
    operation: Operation,
    ids: typeof own.ids,
    browser: ReturnType<typeof newBrowser>,
    extra: CallOptions & { query?: string } = {},
  ) => {
    const request = requestFor(operation, ids)
    return callNode(bank.url, `${pathFor(operation, { ...ids, slug: 'town' })}${extra.query ?? ''}`, {
      ...request,
      ...extra,
      headers: {
        origin: bank.url,
        ...(browser.cookie() && { cookie: browser.cookie()! }),
        ...request.headers,
        ...extra.headers,
      },
    })
  }
  const stranger = newBrowser(bank)
  const gone = await addAdmin(bank)
  const goneCookie = gone.cookie()
  await gone.call('/session', { method: 'DELETE' })
  const ended = { ...stranger, cookie: () => goneCookie }
  const before = [await contentOf(bank.databaseUrl, own.id), await contentOf(bank.databaseUrl, foreign.id)]

  for (const operation of CONSOLE_OPERATIONS.filter(({ role }) => role !== 'nobody')) {
    const { name, role, method } = operation
    score.judge(`${name}, nobody`, await ask(operation, own.ids, stranger), answered(401, 'sign_in_required'))
    score.judge(`${name}, an ended session`, await ask(operation, own.ids, ended), answered(401, 'sign_in_required'))
    const byToken = await ask(operation, own.ids, stranger, { token: own.token })
    score.judge(`${name}, a partner's token`, byToken, answered(401, 'sign_in_required'))
    if (method !== 'GET') {
      const answer = await ask(operation, own.ids, own.owner, { headers: { origin: 'https://evil.example' } })
      score.judge(`${name}, from another site`, answer, answered(403, 'origin_refused'))
    }
    if (role === 'session') continue
    score.judge(`${name}, owner of another community`, await ask(operation, own.ids, foreign.owner), answered(404))
    if (role === 'manager' || role === 'owner') {
      score.judge(`${name}, viewer`, await ask(operation, own.ids, own.viewer), answered(403, 'role_insufficient'))
    }
    if (role === 'owner') {
      score.judge(`${name}, manager`, await ask(operation, own.ids, own.manager), answered(403, 'role_insufficient'))
    }
    if (kindsIn(operation).length > 0) {
      const answer = await ask(operation, foreign.ids, own.owner)
      score.judge(`${name}, another community's id`, answer, answered(404))
    }
    if (namesIdsInBody(operation)) {
      const answer = await ask(operation, foreign.ids, own.owner)
      score.judge(`${name}, another community's id in the body`, answer, isRefused)
      score.judge(`${name}, no trace in the answer`, answer, hasNoMark)
    }
    const query = queryFor(operation, foreign.ids)
    if (query) {
      const answer = await ask(operation, own.ids, own.owner, { query })
      score.judge(`${name}, another community's id in the query`, answer, hasNoMark)
    }
    if (method === 'GET') {
      score.judge(`${name}, no trace of others`, await ask(operation, own.ids, own.owner), hasNoMark)
    }
  }
  const after = [await contentOf(bank.databaseUrl, own.id), await contentOf(bank.databaseUrl, foreign.id)]
  expect(after).toEqual(before)
  for (const operation of removalsLast(CONSOLE_OPERATIONS)) {
    if (operation.role === 'nobody' || operation.role === 'session') continue
    score.judge(`${operation.name}, allowed`, await ask(operation, own.ids, own.owner), isAccepted)
  }
  score.report('console API')
})
