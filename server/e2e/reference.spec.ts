import { expect, test, type Page } from '@playwright/test'
import { expectNoSidewaysScrolling } from './admin.ts'
import { axe, STANDARDS } from './axe.ts'
import { withService } from './with-service.ts'

const CREDIT = '/api/partner/v1/wallet/credit'
const CLIENT_ID = /\bhbc_1_[0-9a-f]{16}\b/
const CLIENT_SECRET = /\bhbs_[0-9a-f]{72}\b/

const service = withService()

/** Does not wait for 'networkidle', which Scalar never reaches. */
async function openReference(page: Page, place = '', origin = service.url): Promise<void> {
  await page.goto(`${origin}/docs/${place}`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Hourbank partner API')
}

async function openCredit(page: Page): Promise<void> {
  await openReference(page, `#tag/wallet/POST${CREDIT}`)
  await expect(page.getByRole('heading', { name: 'Credit hours from a settled bank transfer' })).toBeInViewport()
}

/** Returns the demo partner's credentials, which the first start prints. */
function printed(pattern: RegExp): string {
  const [found] = pattern.exec(service.output()) ?? []
  if (!found) throw new Error(`the service printed nothing like ${pattern}`)
  return found
}

async function authorise(page: Page, clientId: string, clientSecret: string): Promise<void> {
  await page.locator('tr', { hasText: 'Client ID' }).getByRole('combobox').click()
  await page.keyboard.insertText(clientId)
  await page.getByLabel('Client Secret').fill(clientSecret)
  await page.getByRole('button', { name: 'Authorize' }).click()
}

function watch(page: Page) {
  const seen = { hosts: new Set<string>(), complaints: [] as string[] }
  page.context().on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:') seen.hosts.add(origin)
  })
  page.on('websocket', (socket) => seen.hosts.add(new URL(socket.url()).origin))
  page.on('pageerror', (error) => seen.complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') seen.complaints.push(message.text())
  })
  return seen
}

test('a developer authorizes and credits hours on the page alone', async ({ page }) => {
  const clientSecret = printed(CLIENT_SECRET)
  const seen = watch(page)

  await openReference(page)
  await authorise(page, printed(CLIENT_ID), clientSecret)
  await expect(page.getByLabel('Access Token')).toHaveValue(/^hbt_/)
  await page.getByRole('link', { name: 'Wallet', exact: true }).click()
  await page.getByRole('link', { name: 'Credit hours from a settled bank transfer' }).click()
  await page.getByRole('button', { name: `Test Request (post ${CREDIT})` }).click()

  const dialog = page.getByRole('dialog')
  const send = async () => {
    const answered = page.waitForResponse(`${service.url}${CREDIT}`)
    await dialog.getByRole('button', { name: 'Send' }).first().click()
    const response = await answered
    return { status: response.status(), credit: (await response.json()).data }
  }
  const first = await send()
  expect(first).toMatchObject({ status: 201, credit: { user_id: 42, hours: 1.5, replayed: false } })
  const { transaction_id } = first.credit
  await expect(dialog).toContainText(`"transaction_id": ${transaction_id}`)
  expect(await send()).toMatchObject({ status: 200, credit: { transaction_id, replayed: true } })
  await expect(dialog).toContainText('"replayed": true')

  expect([...seen.hosts]).toEqual([service.url])
  expect(seen.complaints).toEqual([])
  const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')
  expect(kept).not.toContain(clientSecret)
  expect(kept).not.toContain('hbt_')
})

test('the page works under every name of the service', async ({ page }) => {
  // PUBLIC_URL has the IP address.
  const byName = service.url.replace('127.0.0.1', 'localhost')
  const seen = watch(page)
  await openReference(page, '', byName)
  await authorise(page, printed(CLIENT_ID), printed(CLIENT_SECRET))
  await expect(page.getByLabel('Access Token')).toHaveValue(/^hbt_/)
  expect([...seen.hosts]).toEqual([byName])
  expect(seen.complaints).toEqual([])
})

/** The browser must not show its own prompt, because the request would wait for it. */
test('a wrong secret is reported', async ({ page }) => {
  await openReference(page)
  await authorise(page, 'hbc_1_0000000000000000', 'wrong')
  await expect(page.getByText('Client authentication failed').first()).toBeVisible()
})

test('the page shows each error of an operation with an example, and every event', async ({ page }) => {
  await openCredit(page)
  const operation = page.locator(`section[id$="POST${CREDIT}"]`)
  await operation.getByRole('tab', { name: '409' }).click()
  await expect(operation).toContainText('"error": "reference_conflict"')
  await expect(operation).toContainText('"reference": "tx-1"')

  await openReference(page, '#tag/events/webhook/POST/wallet.credited')
  const event = page.locator('section[id$="webhook/POST/wallet.credited"]')
  for (const header of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    await expect(event).toContainText(header)
  await expect(event).toContainText('"type": "wallet.credited"')
  await expect(event.getByRole('button', { name: 'Test Request' })).toHaveCount(0)
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the page can be read in the ${colorScheme} scheme`, async ({ page }) => {
    // Three checks of a large page.
    test.slow()
    await page.emulateMedia({ colorScheme })
    await openReference(page)
    const frame = await axe(page).include('header.frame').withTags(STANDARDS).analyze()
    expect(frame.violations).toEqual([])
    const intro = await axe(page).withRules('color-contrast').analyze()
    expect(intro.violations).toEqual([])
    await openCredit(page)
    const operation = await axe(page).withRules('color-contrast').analyze()
    expect(operation.violations).toEqual([])
  })
}

test('the page does not scroll horizontally on a screen of 360 pixels', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 })
  for (const open of [openReference, openCredit]) {
    await open(page)
    await expectNoSidewaysScrolling(page)
  }
})

test('the page follows a strict policy, and every link around the reference works', async ({ page, request }) => {
  const response = await page.goto(`${service.url}/docs`)
  expect(page.url()).toBe(`${service.url}/docs/`)
  const policy = response?.headers()['content-security-policy']
  expect(policy).toContain("default-src 'none'")
  expect(policy).toMatch(/script-src 'self'(;|$)/)
  expect(policy).toMatch(/connect-src 'self'(;|$)/)
  for (const link of await page.getByRole('banner').getByRole('link').all()) {
    const path = await link.getAttribute('href')
    expect((await request.get(`${service.url}${path}`)).status(), `${path}`).toBe(200)
  }
})

test('a page that cannot load its description says so', async ({ page }) => {
  await page.route('**/openapi.json', (route) => route.fulfill({ status: 503, json: {} }))
  await page.goto(`${service.url}/docs/`)
  await expect(page.getByRole('status')).toContainText('could not be loaded: /openapi.json answers 503.')
})
