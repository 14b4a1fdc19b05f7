import { AxeBuilder } from '@axe-core/playwright'
import { expect, test, type Page } from '@playwright/test'
import { startService, type Service } from './service.ts'

const START_TIMEOUT_MS = 90_000
const ASKED_AGAIN_MS = 5_000
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

let service: Service

test.beforeAll(async () => {
  test.setTimeout(START_TIMEOUT_MS)
  service = await startService()
})

test.afterAll(async () => {
  await service?.stop()
})

async function openConsole(page: Page): Promise<void> {
  await page.goto(`${service.url}/console/`)
  await expect(page.getByRole('status')).toHaveText('The service is ready.')
}

test('the root address leads to the console', async ({ page }) => {
  await page.goto(`${service.url}/`)
  await expect(page).toHaveURL(`${service.url}/console/`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Hourbank')
})

test('the console shows when the service is ready and when it is not', async ({ page }) => {
  await page.clock.install()
  await openConsole(page)

  await page.route('**/readyz', (route) => route.fulfill({ status: 503, json: { status: 'unavailable' } }))
  await page.clock.fastForward(ASKED_AGAIN_MS)
  await expect(page.getByRole('status')).toContainText('not ready')

  await page.route('**/readyz', (route) => route.abort())
  await page.clock.fastForward(ASKED_AGAIN_MS)
  await expect(page.getByRole('status')).toContainText('does not answer')

  await page.unrouteAll()
  await page.clock.fastForward(ASKED_AGAIN_MS)
  await expect(page.getByRole('status')).toHaveText('The service is ready.')
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the console has no accessibility violation in the ${colorScheme} scheme`, async ({ page }) => {
    await page.emulateMedia({ colorScheme })
    await openConsole(page)
    const { violations } = await new AxeBuilder({ page }).withTags(STANDARDS).analyze()
    expect(violations).toEqual([])
  })
}

test('the console does not scroll sideways on a screen of 360 pixels', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 })
  await openConsole(page)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
})

test('the console loads nothing from other hosts and keeps to its content security policy', async ({ page }) => {
  const requests: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })

  const response = await page.goto(`${service.url}/console/`)
  expect(response?.headers()['content-security-policy']).toContain("default-src 'self'")
  await expect(page.getByRole('status')).toHaveText('The service is ready.')

  expect(requests.length).toBeGreaterThan(0)
  expect(requests.filter((url) => new URL(url).origin !== service.url)).toEqual([])
  expect(complaints).toEqual([])
})

test('every link on the console leads somewhere', async ({ page, request }) => {
  await openConsole(page)
  const links = await page.getByRole('link').all()
  expect(links.length).toBeGreaterThan(0)
  for (const link of links) {
    const path = await link.getAttribute('href')
    expect((await request.get(`${service.url}${path}`)).status(), `${path}`).toBe(200)
  }
})
