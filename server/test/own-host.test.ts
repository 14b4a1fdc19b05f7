import { expect, test } from 'vitest'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { ownHosts } from '../src/http/shared/own-host.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { addAdmin } from './admin.ts'
import { callNode, startBank, type Bank } from './bank.ts'
import { sendBytes } from './raw-http.ts'

const PUBLIC = { publicUrl: 'https://hours.example.org', hasPublicUrl: true, allowedHosts: ['Alias.example.org'] }
const LOCAL = { publicUrl: 'http://127.0.0.1:3000', hasPublicUrl: false, allowedHosts: [] }

async function get(bank: Bank, path: string, host: string) {
  const answer = await sendBytes(bank.config.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  return answer!
}

test.each([
  ['hours.example.org', true, false],
  ['HOURS.example.org:443', true, false],
  ['alias.example.org', true, false],
  ['localhost:3000', true, true],
  ['127.0.0.1:3000', true, true],
  ['[::1]:3000', true, true],
  ['192.168.1.5:3000', false, true],
  ['[2001:db8::1]', false, true],
  ['attacker.example', false, false],
  ['hours.example.org.attacker.example', false, false],
  ['localhost.attacker.example', false, false],
  ['127.0.0.1.attacker.example', false, false],
  ['hours.example.org:443:443', false, false],
  ['hours.example.org@attacker.example', false, false],
  ['', false, false],
])('the host %j is ours with PUBLIC_URL: %s, without: %s', (host, isPublic, isLocal) => {
  expect([ownHosts(PUBLIC)(host), ownHosts(LOCAL)(host)]).toEqual([isPublic, isLocal])
})

test('a request for another host gets 421 everywhere, but probes by address work', async () => {
  const bank = await startBank({ config: PUBLIC })
  for (const path of [
    `${API_PREFIX}/users`,
    `${API_PREFIX}/none`,
    `${ADMIN_PREFIX}/session`,
    '/console/',
    '/docs/',
    '/openapi.json',
    '/none',
  ]) {
    const answer = await get(bank, path, 'attacker.example')
    expect(answer, path).toMatchObject({ status: 421, body: { error: 'misdirected_request' } })
    expect(answer.body.request_id, path).toBe(answer.headers.get('request-id'))
    expect(answer.headers.get('api-version'), path).toBe('2.0')
    expect((await get(bank, path, 'hours.example.org')).status, path).not.toBe(421)
  }
  for (const path of ['/healthz', '/readyz', '/metrics'])
    expect((await get(bank, path, '10.1.2.3:3000')).status).toBe(200)
})

test('a change must come from our own origin; X-Forwarded-Host does not make another one ours', async () => {
  const bank = await startBank({ config: { trustProxy: ['127.0.0.1'] } })
  const admin = await addAdmin(bank)
  const change = (headers: Record<string, string>) =>
    admin.call('/communities/town', { method: 'PATCH', body: { name: 'Town' }, headers })
  expect((await change({ origin: bank.url })).status).toBe(200)
  const attacker = { origin: 'https://attacker.example', 'x-forwarded-host': 'attacker.example' }
  expect(await change(attacker)).toMatchObject({ status: 403, body: { error: 'origin_refused' } })
})

test('security.txt names the contact that the operator set, and is missing without one', async () => {
  const contact = 'mailto:security@example.org'
  const bank = await startBank({ config: { ...PUBLIC, securityContact: contact } })
  const url = `http://127.0.0.1:${bank.config.port}`
  const { status, headers, body } = await callNode(url, '/.well-known/security.txt')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(body).toContain(`Contact: ${contact}\n`)
  expect(body).toContain('Canonical: https://hours.example.org/.well-known/security.txt\n')
  const expires = Date.parse(/^Expires: (\S+)$/m.exec(body)![1]!)
  expect(expires).toBeGreaterThan(Date.now())
  expect(expires).toBeLessThan(Date.now() + 365 * 24 * 60 * 60 * 1000)
  expect(await (await startBank()).call('/.well-known/security.txt')).toMatchObject({
    status: 404,
    body: { error: 'not_found' },
  })
})
