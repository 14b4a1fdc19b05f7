import { expect, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { eventually, startBank, TESTER, type Answer, type Bank } from './bank.ts'
import { sendBytes } from './raw-http.ts'

async function get(bank: Bank, target: string, headers: string[] = []): Promise<Answer> {
  const lines = [`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers, 'Connection: close', '', '']
  return (await sendBytes(bank.config.port, lines.join('\r\n')))!
}

test('an address with a fragment is malformed everywhere, and the call log holds nothing of it', async () => {
  const bank = await startBank()
  const authorization = `Authorization: Bearer ${await bank.token()}`
  for (const path of [
    `${API_PREFIX}/users`,
    `${API_PREFIX}/oauth/token`,
    `${API_PREFIX}/none`,
    `${ADMIN_PREFIX}/none`,
    '/.well-known/none',
    '/console/',
    '/none',
  ]) {
    for (const fragment of ['#%', '#ada@example.org', '?limit=1#', '#']) {
      const answer = await get(bank, path + fragment, [authorization])
      expect(answer, path + fragment).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
      expect(answer.body.request_id, path).toBe(answer.headers.get('request-id'))
    }
  }
  const found = await get(bank, `${API_PREFIX}/users/%23`, [authorization])
  expect(found.status).toBe(404)
  const read = () => bank.sql<{ path: string }[]>`select path from call_log`
  const logged = await eventually(async () => {
    const paths = (await read()).map(({ path }) => path)
    return paths.includes(`${API_PREFIX}/users/:id`) && paths
  })
  expect(logged.join()).not.toMatch(/#|ada@/)
})

test('the host of a whole address counts, not that of the header, and links lead to our own', async () => {
  const bank = await startBank()
  for (const name of ['Ada', 'Ben']) await addMember(bank.sql, TESTER, bank.communityId, { name })
  const authorization = `Authorization: Bearer ${await bank.token()}`
  const path = `${API_PREFIX}/users?limit=1`
  const own = await get(bank, `http://localhost${path}`, [authorization])
  expect(own.status).toBe(200)
  expect(own.headers.get('link')).toMatch(`<${bank.config.publicUrl}${path}&cursor=`)
  for (const elsewhere of [`http://evil.example${path}`, `HTTPS://evil.example:8443${path}`, 'http://evil.example']) {
    expect(await get(bank, elsewhere, [authorization]), elsewhere).toMatchObject({
      status: 421,
      body: { error: 'misdirected_request' },
    })
  }
})
