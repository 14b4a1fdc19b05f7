import { expect, type Locator, type Page } from '@playwright/test'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ADMIN_API } from './admin.ts'
import type { Service } from './service.ts'

export const PARTNER_API = '/api/partner/v1'
const SECRET = /^hbs_[0-9a-f]{72}$/

const run = promisify(execFile)

/** What a partner is given. */
export interface Handed {
  id: string
  secret: string
  curl: string
}

/** Reads the credentials, which the dialog shows only once. */
export async function readCredentials(dialog: Locator): Promise<Handed> {
  const values = dialog.locator('pre')
  await expect(values).toHaveCount(3)
  const [id, secret, curl] = await values.allInnerTexts()
  expect(secret).toMatch(SECRET)
  return { id: id!, secret: secret!, curl: curl! }
}

export async function saveAndClose(page: Page, dialog: Locator): Promise<void> {
  await page.keyboard.press('Escape')
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeDisabled()
  await dialog.getByLabel('I have saved it').check()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect(dialog).toBeHidden()
}

/** Runs the command as a developer would paste it. */
export async function paste(command: string): Promise<{ access_token?: string; error?: string; scope?: string }> {
  const { stdout } = await run('sh', ['-c', command])
  return JSON.parse(stdout)
}

export async function askToken(
  page: Page,
  service: Service,
  { id, secret }: Pick<Handed, 'id' | 'secret'>,
): Promise<number> {
  const body = { grant_type: 'client_credentials', client_id: id, client_secret: secret }
  return (await page.request.post(`${service.url}${PARTNER_API}/oauth/token`, { data: body })).status()
}

export async function callAsPartner(page: Page, service: Service, token: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  return (await page.request.get(`${service.url}${PARTNER_API}${path}`, { headers })).status()
}

/** Calls are written in batches. */
export async function waitForCalls(page: Page, service: Service, query: string, count = 1): Promise<void> {
  const calls = `${service.url}${ADMIN_API}/communities/demo/calls?${query}`
  await expect
    .poll(async () => (await (await page.request.get(calls)).json()).data.length, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(count)
}

/** Causes an event for partners that may see members. */
export async function renameMember(page: Page, service: Service, name: string): Promise<void> {
  const members = `${service.url}${ADMIN_API}/communities/demo/members`
  const { data } = await (await page.request.get(`${members}?status=active&hidden=false&limit=1`)).json()
  const answer = await page.request.patch(`${members}/${data[0].id}`, {
    headers: { origin: service.url, 'if-match': '*' },
    data: { name },
  })
  expect(answer.status()).toBe(200)
}

/** Creates a partner through the API instead of the form. */
export async function makePartner(page: Page, service: Service, name: string): Promise<Handed & { partnerId: number }> {
  const answer = await page.request.post(`${service.url}${ADMIN_API}/communities/demo/partners`, {
    headers: { origin: service.url },
    data: { name, scopes: ['users.read'] },
  })
  const { data } = await answer.json()
  return { partnerId: data.partner_id, id: data.client_id, secret: data.client_secret, curl: '' }
}
