import { expect, test, type Page } from '@playwright/test'
import { axe, STANDARDS } from './axe.ts'
import { withService } from './with-service.ts'

const service = withService({ WEBHOOK_SOURCE_ADDRESSES: '192.0.2.7, 2001:db8::/32' })

async function open(page: Page, name = ''): Promise<void> {
  const response = await page.goto(`${service.url}/docs/guides/${name}`)
  expect(response?.status()).toBe(200)
}

test('a developer finds a guide by its words, and from there the reference', async ({ page }) => {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  await open(page)
  await page.getByRole('searchbox', { name: 'Search the guides' }).fill('daily limit')
  await page.getByRole('link', { name: 'Crediting hours: Daily limit' }).click()
  await expect(page.getByRole('heading', { name: 'Daily limit' })).toBeInViewport()
  await page.getByRole('searchbox').fill('xyzzy')
  await expect(page.getByRole('status')).toHaveText('Nothing found')
  await page.getByRole('link', { name: 'API reference' }).click()
  expect(page.url()).toBe(`${service.url}/docs/`)
  await page.getByRole('banner').getByRole('link', { name: 'Guides' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Guides')
  expect(complaints).toEqual([])
})

test('tabs show one language, by mouse and by keyboard, and every page remembers it', async ({ page }) => {
  await open(page, 'testing')
  const python = page.getByRole('tab', { name: 'Python' })
  const panel = page.getByRole('tabpanel')
  await expect(panel).toHaveCount(1)
  await expect(panel).toContainText('post /wallet/credit')
  await python.click()
  await expect(panel).toContainText('from hourbank import Hourbank')
  await page.keyboard.press('ArrowLeft')
  await expect(page.getByRole('tab', { name: 'TypeScript' })).toBeFocused()
  await expect(panel).toContainText("from '@hourbank/client'")
  await page.reload()
  await expect(panel).toContainText("from '@hourbank/client'")
})

test('the guide shows the source addresses that the operator has set', async ({ page }) => {
  await open(page, 'webhooks#source-addresses')
  for (const address of ['192.0.2.7', '2001:db8::/32']) {
    await expect(page.getByRole('listitem').filter({ hasText: address })).toBeVisible()
  }
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the guides can be read by everybody in the ${colorScheme} scheme`, async ({ page }) => {
    await page.emulateMedia({ colorScheme })
    for (const name of ['', 'testing', 'webhooks', 'batch-crediting']) {
      await open(page, name)
      const { violations } = await axe(page).withTags(STANDARDS).analyze()
      expect(violations, name).toEqual([])
    }
  })
}

test('no guide scrolls horizontally on a screen of 360 pixels, and all guides are one link away', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 })
  await open(page)
  const names = await page
    .getByRole('navigation', { name: 'Guides' })
    .getByRole('link')
    .evaluateAll((links: { getAttribute(name: string): string }[]) => links.map((link) => link.getAttribute('href')))
  expect(names.length).toBeGreaterThan(10)
  for (const name of names) {
    await open(page, name)
    expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(360)
  }
  await page.getByRole('link', { name: 'All guides' }).click()
  await expect(page.getByRole('searchbox')).toBeInViewport()
})

test('the guides follow a strict policy; an unknown one is 404', async ({ request }) => {
  const page = await request.get(`${service.url}/docs/guides/testing`)
  const policy = page.headers()['content-security-policy']
  expect(policy).toContain("default-src 'none'")
  expect(policy).toMatch(/script-src 'self'(;|$)/)
  expect(policy).toMatch(/style-src 'self'(;|$)/)
  expect((await request.get(`${service.url}/docs/guides/nothing`)).status()).toBe(404)
})
