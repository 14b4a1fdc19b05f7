import { expect, test } from '@playwright/test'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { ADMIN_API, openPage } from './admin.ts'
import type { Receiver } from './receiver.ts'
import type { Service } from './service.ts'
import { withReceiver } from './with-receiver.ts'

const PARTNER_API = '/api/partner/v1'
/** The header stays on top while the page scrolls. */
const HEADER_PIXELS = 80
const SIZE = { width: 1280, height: 800 }
const DOCS_DIR = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))

let service: Service
let receiver: Receiver

withReceiver((started) => ({ service, receiver } = started))

// Fields for dates look as the browser's language has them.
test.use({ locale: 'en-GB' })

/** `npm run pictures` writes them to the documentation; other test runs create and discard them. */
test('the pictures of the README: overview, credentials, deliveries', async ({ page }, info) => {
  const folder = process.env.PICTURES === 'docs' ? DOCS_DIR : info.outputDir
  const take = (name: string) => page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
  await page.setViewportSize(SIZE)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })

  const made = await page.request.post(`${service.url}${ADMIN_API}/communities/demo/partners`, {
    headers: { origin: service.url },
    data: { name: 'Riverside Bank', scopes: ['users.read', 'wallet.read', 'wallet.write', 'webhooks.manage'] },
  })
  const { client_id, client_secret } = (await made.json()).data
  const token = await page.request.post(`${service.url}${PARTNER_API}/oauth/token`, {
    data: { grant_type: 'client_credentials', client_id, client_secret },
  })
  const headers = { authorization: `Bearer ${(await token.json()).access_token}` }
  const call = (path: string, data: object) =>
    page.request.post(`${service.url}${PARTNER_API}${path}`, { headers, data })

  receiver.answer = { status: 204 }
  await call('/webhooks/subscriptions', { event_types: ['wallet.*'], target_url: receiver.url })
  const { data: members } = await (
    await page.request.get(`${service.url}${PARTNER_API}/users?limit=6`, { headers })
  ).json()
  for (const [n, { id }] of members.entries()) {
    const credited = await call('/wallet/credit', {
      user_id: id,
      hours: 1.5 + n / 4,
      reference: `AT48-2026-${4711 + n}`,
    })
    expect(credited.status()).toBe(201)
  }

  await openPage(page, service, 'overview', 'Overview')
  await expect(
    page
      .getByRole('img', { name: /Hours exchanged/ })
      .locator('svg')
      .first(),
  ).toBeVisible()
  await expect(page.getByRole('row', { name: /Riverside Bank/ })).toBeVisible()
  await take('overview')

  await openPage(page, service, 'partners', 'Partners')
  await page.getByRole('link', { name: 'Riverside Bank' }).click()
  await expect(page.getByRole('table', { name: 'Credentials' })).toContainText(client_id)
  // Its forms are loaded after the page is shown.
  await expect(page.getByRole('button', { name: 'Add credentials' })).toBeEnabled()
  await expect(page.getByLabel('Contact')).toBeVisible()
  await take('credentials')

  await openPage(page, service, 'webhooks', 'Webhooks')
  await page.getByRole('table', { name: 'Webhook subscriptions' }).getByRole('link').first().click()
  const deliveries = page.getByRole('table', { name: 'Deliveries' })
  await expect(deliveries.getByRole('row')).toHaveCount(members.length + 1)
  await expect(deliveries.getByText('Arrived (answer 204)')).toHaveCount(members.length)
  await page.getByRole('heading', { name: 'Deliveries' }).evaluate((heading) => heading.scrollIntoView())
  await page.mouse.wheel(0, -HEADER_PIXELS)
  await take('deliveries')
})
