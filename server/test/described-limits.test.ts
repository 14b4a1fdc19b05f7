import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { apiDescriptions } from '../src/cli/describe.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { startBank, TESTER, type Answer } from './bank.ts'

interface Description {
  components: object
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: { name: string }[]
        requestBody?: { content: Record<string, { schema: object }> }
        responses: Record<string, { description: string }>
      }
    >
  >
}

/** Whether the published schema of a body accepts it, as a generated client would check. */
async function bodyCheck(path: string) {
  const { paths, components } = (await apiDescriptions()).partner as Description
  const { schema } = paths[API_PREFIX + path]!.post!.requestBody!.content['application/json']!
  return new Ajv({ strict: false, validateFormats: false, multipleOfPrecision: 6 }).compile({ ...schema, components })
}

test('the description of a credit accepts the hours that the service accepts', async () => {
  const bank = await startBank()
  await bank.sql`update communities set credit_limit_centihours = 10000000`
  const { id: user_id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const partner = await bank.addPartner({ dailyLimitCentihours: 100_000_000 })
  const token = await bank.token(undefined, partner)
  const isDescribed = await bodyCheck('/wallet/credit')
  const accepted = [0.01, 0.07, 1.15, 1000, 4.35, 99_999.99, 100_000]
  const rejected = [0, -1, 0.001, 1.005, 1.155, 100_000.01, 1e9]
  for (const hours of [...accepted, ...rejected]) {
    const body = { user_id, hours, reference: `tx ${hours}` }
    const { status } = await bank.call('/wallet/credit', { token, body })
    expect({ hours, status, described: isDescribed(body) }).toEqual({
      hours,
      status: accepted.includes(hours) ? 201 : 422,
      described: accepted.includes(hours),
    })
  }
})

test('the description of a subscription accepts the addresses that the service accepts', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const token = await bank.token()
  const isDescribed = await bodyCheck('/webhooks/subscriptions')
  const host = 'hooks.example.org'
  const accepted = [
    `https://${host}`,
    `HTTPS://${host}:8443/a/@b?c=@d`,
    `https://${host}?q`,
    `https://bücher.example/ä`,
  ]
  const rejected = [
    [`http://${host}/`, `https:/${host}/`, `https://`, host, ` https://${host}/`, `https://${host}/a b`],
    [`https://user@${host}/`, `https://user:secret@${host}/`, `https://${host}/#part`, `https://${host}\\a`],
    `https://${host}/${'a'.repeat(2048)}`,
  ].flat()
  for (const target_url of [...accepted, ...rejected]) {
    const body = { event_types: ['*'], target_url }
    const answer = await bank.call('/webhooks/subscriptions', { token, body })
    expect({ target_url, status: answer.status, described: isDescribed(body) }).toEqual({
      target_url,
      status: accepted.includes(target_url) ? 201 : 422,
      described: accepted.includes(target_url),
    })
    if (answer.status === 422) expect(answer.body.errors[0].message).toMatch(/^must (be|have) [^"\\]+$/)
  }
})

test("the console's description names 400, 410 and 429 where they occur", async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const { paths } = (await admin.call('/openapi.json')).body as Description
  const expectDescribed = (method: string, path: string, { status, body }: Answer, code: string) => {
    expect(body.error, path).toBe(code)
    expect(paths[path]![method]!.responses[status]?.description, `${path} ${status}`).toContain(`\`${code}\``)
  }

  const elsewhere = Buffer.from(JSON.stringify(['another epoch', '', 1])).toString('base64url')
  const lists = Object.entries(paths).filter(([, { get }]) => get?.parameters?.some(({ name }) => name === 'cursor'))
  expect(lists.length).toBeGreaterThan(5)
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const subscription = { event_types: ['*'], target_url: 'https://hooks.example.org/' }
  const made = await bank.call('/webhooks/subscriptions', { token: await bank.token(), body: subscription })
  for (const [path] of lists) {
    const one = path.includes('/members/') ? id : made.body.data.id
    const address = path.replace('{slug}', 'town').replace('{id}', `${one}`).replace(ADMIN_PREFIX, '')
    expectDescribed('get', path, await admin.call(`${address}?cursor=${elsewhere}`), 'resync_required')
    expectDescribed('get', path, await admin.call(`${address}?limit=1&limit=2`), 'invalid_request')
  }

  const browser = newBrowser(bank)
  const link = { link: 'x', token: 'x', name: 'Ada', email: 'ada@example.org', password: 'a long enough password' }
  const tries: [path: string, code: string][] = [
    ['/setup', 'link_expired'],
    ['/links/inspect', 'link_expired'],
    ['/links/use', 'link_expired'],
    ['/session', 'sign_in_failed'],
  ]
  for (const [path, code] of tries) {
    expectDescribed('post', ADMIN_PREFIX + path, await browser.call(path, { body: link }), code)
  }
  for (const [path] of [...tries, ['/password']] as [string][]) {
    const body = { ...link, current_password: 'wrong', new_password: 'another long password' }
    const answers = await Promise.all(Array.from({ length: 12 }, () => admin.call(path, { body })))
    const limited = answers.find(({ status }) => status === 429)
    expectDescribed('post', ADMIN_PREFIX + path, limited ?? answers[0]!, 'rate_limited')
  }
})
