import { expect, test, type Locator } from '@playwright/test'
import { callDemo, chooseOwn, openPage, signIn } from './admin.ts'
import { findPages, isLoaded } from './pages.ts'
import { askToken, makePartner, waitForCalls } from './partner-access.ts'
import { withService } from './with-service.ts'

const LATIN_DIGIT = /[0-9]/
/** Between the marks that make it a text from right to left of its own. */
const ISOLATED = /^\u2067.*\u2069$/

const service = withService()

test.beforeEach(async ({ page }) => {
  await signIn(page, service)
  await chooseOwn(page, service, 'ar')
})

async function middleOf(element: Locator): Promise<number> {
  const { x, width } = (await element.boundingBox())!
  return x + width / 2
}

/** A name that is longer than the room below the axis of values would leave the card. */
async function expectNamesWithin(chart: Locator): Promise<void> {
  await expect(async () => {
    const box = (await chart.boundingBox())!
    for (const name of await chart.locator('.recharts-xAxis-tick-labels text').all()) {
      const { x, width } = (await name.boundingBox())!
      expect(x, await name.innerHTML()).toBeGreaterThanOrEqual(box.x - 1)
      expect(x + width, await name.innerHTML()).toBeLessThanOrEqual(box.x + box.width + 1)
    }
  }).toPass()
}

async function expectMirrored(chart: Locator): Promise<void> {
  const values = chart.locator('.recharts-yAxis-tick-labels text').first()
  await expect(values).toBeVisible()
  await expect(async () => expect(await middleOf(values)).toBeGreaterThan(await middleOf(chart))).toPass()
  for (const label of await chart.locator('.recharts-cartesian-axis-tick-value').allTextContents()) {
    expect(label).toMatch(ISOLATED)
    expect(label).not.toMatch(LATIN_DIGIT)
  }
}

test('a chart of what is counted begins at the right, with its legend in the order of the series', async ({ page }) => {
  const bank = await makePartner(page, service, 'Bank that calls')
  expect(await askToken(page, service, bank)).toBe(200)
  expect(await askToken(page, service, { ...bank, secret: 'wrong' })).toBe(401)
  const chart = page.locator('figure').getByRole('img')
  const [answered, rejected] = [chart.getByText('مُجابة'), chart.getByText('غير موثّقة (401)')]
  await waitForCalls(page, service, `partner_id=${bank.partnerId}`, 2)
  await openPage(page, service, 'calls?view=chart', 'الاستدعاءات')
  await expect(answered).toBeVisible()
  await expect(rejected).toBeVisible()
  await expectMirrored(chart)
  await expect(async () => expect(await middleOf(answered)).toBeGreaterThan(await middleOf(rejected))).toPass()
})

test('the figures that partners see have the digits of the language, in the drawings and in their tables', async ({
  page,
}) => {
  await openPage(page, service, 'community?part=partners', 'الإعدادات')
  const charts = page.locator('figure').getByRole('img')
  await expect(charts).toHaveCount(5)
  for (const chart of await charts.all()) {
    await expectMirrored(chart)
    await expectNamesWithin(chart)
  }
  const tables = page.locator('figure table')
  await expect(tables).toHaveCount(5)
  for (const text of await tables.allTextContents()) expect(text).not.toMatch(LATIN_DIGIT)
  await expect(tables.nth(1)).toContainText('\u00A0س')
})

test('codes and addresses keep their order', async ({ page }) => {
  const webhook = (await findPages(page, service, 'demo')).find(({ path }) => path.startsWith('webhooks/'))!
  await openPage(page, service, webhook.path)
  await expect(page.getByText('wallet.*', { exact: true })).toHaveCSS('direction', 'ltr')
  await openPage(page, service, 'calls')
  await expect(page.getByPlaceholder('/wallet')).toHaveCSS('direction', 'ltr')
  await openPage(page, service, 'members')
  await page.getByRole('button', { name: 'إضافة عضو' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.locator('input[type=email]')).toHaveCSS('direction', 'ltr')
})

test('a listing in another script begins where its column does, and its end is cut off', async ({ page }) => {
  const [listing] = await callDemo<{ title: string; description: string }[]>(page, service, '/listings?limit=1')
  await openPage(page, service, 'listings', 'الإعلانات')
  await isLoaded(page)
  const description = page.getByText(listing!.description).first()
  await expect(description).toHaveCSS('direction', 'ltr')
  await expect(description).toHaveCSS('text-align', 'right')
  await expect(page.locator('bdi', { hasText: listing!.title }).first()).toBeVisible()
})

test('the key for a shortcut has the name that is printed on it', async ({ page }) => {
  await chooseOwn(page, service, 'de')
  await openPage(page, service, 'overview', 'Übersicht')
  await expect(page.getByRole('button', { name: 'Suchen' })).toContainText('Strg K')
})
