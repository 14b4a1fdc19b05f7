import { expect, test, type Page } from '@playwright/test'
import {
  ADMIN_API,
  callDemo,
  chooseOwn,
  expectAccessible,
  expectNoSidewaysScrolling,
  openPage,
  printedAdmin,
  signIn,
} from './admin.ts'
import { makeCommunity } from './pages.ts'
import { withService } from './with-service.ts'

/** The heading of the overview shows which language a page is in. */
const OVERVIEW = { en: 'Overview', de: 'Übersicht', es: 'Resumen', fr: 'Vue d’ensemble', ar: 'نظرة عامة' }

const service = withService()

async function chooseForCommunity(page: Page, language: string, slug = 'demo'): Promise<void> {
  const address = `${service.url}${ADMIN_API}/communities/${slug}`
  const { version } = (await (await page.request.get(address)).json()).data
  const headers = { origin: service.url, 'if-match': `"${version}"` }
  expect((await page.request.patch(address, { headers, data: { language } })).status()).toBe(200)
}

test.describe('in a browser that asks for Austrian German', () => {
  test.use({ locale: 'de-AT' })

  test('the sign-in page is German, and so is a rejected sign-in', async ({ page }) => {
    await page.goto(`${service.url}/console/sign-in`)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Anmelden')
    await expect(page.locator('html')).toHaveAttribute('lang', 'de')
    await expect(page.locator('html')).toHaveAttribute('dir', 'ltr')
    await page.getByLabel('E-Mail').fill('nobody@example.org')
    await page.getByLabel('Passwort', { exact: true }).fill('not the password')
    await page.getByRole('button', { name: 'Anmelden' }).click()
    await expect(page.getByRole('alert')).toHaveText('Die E-Mail-Adresse oder das Passwort ist falsch.')
  })

  test('the community’s language wins over the browser’s, and the person’s own over both', async ({ page }) => {
    await signIn(page, service)
    await openPage(page, service, 'overview', OVERVIEW.en)
    await chooseForCommunity(page, 'fr')
    await openPage(page, service, 'overview', OVERVIEW.fr)
    await chooseOwn(page, service, 'es')
    await openPage(page, service, 'overview', OVERVIEW.es)
    await chooseOwn(page, service, null)
    // A language that the console does not have.
    await chooseForCommunity(page, 'pt-BR')
    await openPage(page, service, 'overview', OVERVIEW.de)
    await chooseForCommunity(page, 'en')
  })
})

test('a person chooses Arabic on the account page, which turns round at once and stays so', async ({ page }) => {
  await signIn(page, service)
  await page.goto(`${service.url}/console/account`)
  await page.getByLabel('Language of the console').selectOption('العربية')
  const panel = page.getByRole('region', { name: 'Language' })
  await panel.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('الحساب')
  await expect(page.locator('html')).toHaveAttribute('lang', 'ar')
  await expect(page.locator('html')).toHaveAttribute('dir', 'rtl')
  await page.reload()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('الحساب')
  // The navigation stands at the right.
  await expect
    .poll(async () => (await page.getByRole('navigation').boundingBox())?.x)
    .toBeGreaterThan(page.viewportSize()!.width / 2)
  await chooseOwn(page, service, null)
})

test('the menu of the account leads to the guide in the language on the screen', async ({ page }) => {
  await signIn(page, service)
  await chooseOwn(page, service, 'ar')
  await openPage(page, service, 'overview', OVERVIEW.ar)
  await page.getByRole('button', { name: 'Demo owner' }).click()
  const address = await page.getByRole('link', { name: 'دليل المسؤولين' }).getAttribute('href')
  await page.goto(`${service.url}${address}`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('للمسؤولين')
  await expect(page.getByRole('main')).toHaveAttribute('dir', 'rtl')
  await expectNoSidewaysScrolling(page)
  await chooseOwn(page, service, null)
})

test('rejections of the service are shown in German, beside the field and in a row of a file', async ({ page }) => {
  await signIn(page, service)
  await chooseOwn(page, service, 'de')
  const { email } = printedAdmin(service)
  await openPage(page, service, 'community?part=administrators', 'Einstellungen')
  await page.getByRole('button', { name: 'Einladen' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('E-Mail').fill(email)
  await dialog.getByLabel('Name').fill('Ada')
  await dialog.getByRole('button', { name: 'Einladen' }).click()
  await expect(dialog.getByLabel('E-Mail')).toHaveAccessibleDescription(/verwaltet diese Gemeinschaft bereits/)

  await openPage(page, service, 'members/import', 'Mitglieder importieren')
  const rows = 'external_id,name,email\r\nX-1,Ada,nowhere\r\nX-1,Ben,\r\n'
  await page.setInputFiles('input[type=file]', { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) })
  await page.getByRole('button', { name: 'Datei prüfen' }).click()
  await expect(page.getByText('Das ist keine gültige E-Mail-Adresse.')).toBeVisible()
  await expect(page.getByText('Die Nummer steht schon in Zeile 2.')).toBeVisible()
  await chooseOwn(page, service, null)
})

test('an export is written as Excel expects it in the language, unless this browser has another choice', async ({
  page,
}) => {
  await signIn(page, service)
  const openExport = async () => {
    await openPage(page, service, 'members')
    await page.locator('main button').first().click()
    return page.getByRole('dialog')
  }
  const separator = async () => (await openExport()).locator('select').first()
  for (const [language, expected] of [
    ['en', 'comma'],
    ['de', 'semicolon'],
    ['fr', 'semicolon'],
    ['es', 'semicolon'],
    ['ar', 'comma'],
  ] as const) {
    await chooseOwn(page, service, language)
    await expect(await separator(), language).toHaveValue(expected)
  }
  await chooseOwn(page, service, 'de')
  await (await separator()).selectOption('tab')
  const downloading = page.waitForEvent('download')
  await page.getByRole('dialog').getByRole('button', { name: 'Herunterladen' }).click()
  await downloading
  await expect(await separator()).toHaveValue('tab')
  await chooseOwn(page, service, null)
})

test('a statement is printed in the community’s language, whatever the office reads', async ({ page }) => {
  await signIn(page, service)
  const [member] = await callDemo<{ id: number; name: string }[]>(page, service, '/members?limit=1')
  await chooseForCommunity(page, 'ar')
  await chooseOwn(page, service, 'de')
  await openPage(page, service, `members/${member!.id}/statement`, `Kontoauszug für ${member!.name}`)
  const paper = page.locator('main [lang=ar][dir=rtl]')
  await expect(paper.getByRole('heading', { name: `كشف حساب ${member!.name}` })).toBeVisible()
  await expect(paper).toContainText('الرصيد بعد ذلك')
  const year = new Intl.NumberFormat('ar-u-nu-arab', { useGrouping: false }).format(new Date().getFullYear())
  await expect(paper).toContainText(year)
  await expect(page.getByRole('button', { name: 'Drucken' })).toBeVisible()
  await expectAccessible(page)
  await page.emulateMedia({ media: 'print' })
  await expect(page.getByRole('heading', { name: `Kontoauszug für ${member!.name}` })).toBeHidden()
  await expect(paper.getByRole('heading', { name: `كشف حساب ${member!.name}` })).toBeVisible()
  await page.emulateMedia({ media: 'screen' })
  await chooseForCommunity(page, 'en')
  await chooseOwn(page, service, null)
})

test('pointing at the name of a German community changes nothing; opening it does, and the account follows', async ({
  page,
}) => {
  await signIn(page, service)
  const slug = await makeCommunity(service, 0)
  await chooseForCommunity(page, 'de', slug)
  await openPage(page, service, 'exchanges/record', 'Record exchanges')
  const note = page.getByLabel('Note').first()
  await note.fill('Bread')
  await page.getByRole('banner').getByRole('button', { expanded: false }).first().click()
  const other = page.getByRole('link', { name: 'Nobody yet' })
  // The page behind the link is loaded last of what is loaded beforehand.
  const loaded = page.waitForResponse(/\/overview-[^/]+\.js$/)
  await other.hover()
  await loaded
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
  await expect(note).toHaveValue('Bread')

  await other.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(OVERVIEW.de)
  await page.getByRole('button', { name: 'Demo owner' }).click()
  await page.getByRole('link', { name: 'Konto und Sitzungen' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Konto')
})

/** As French has it: a space that does not begin a line. */
const FRENCH_COLON = /\S\u00A0: /
const OTHER_COLON = /[^\u00A0]: /

test('in French a space stands before a colon, in lists on a phone and in what needs attention too', async ({
  page,
}) => {
  await signIn(page, service)
  await chooseOwn(page, service, 'fr')
  // Everybody who owes hours is at the limit.
  const { lower_limit_hours: limit } = await callDemo<{ lower_limit_hours: number }>(page, service, '')
  await callDemo(page, service, '', { lower_limit_hours: 0 }, 'PATCH')
  await openPage(page, service, 'overview', OVERVIEW.fr)
  const attention = page.getByRole('region', { name: 'À surveiller' })
  await expect(attention).toContainText(FRENCH_COLON)
  expect((await attention.allInnerTexts()).join(' ')).not.toMatch(OTHER_COLON)
  await callDemo(page, service, '', { lower_limit_hours: limit }, 'PATCH')

  await page.setViewportSize({ width: 360, height: 740 })
  await openPage(page, service, 'members', 'Membres')
  const label = page.locator('[data-narrow=labelled]').first()
  await expect(label).toBeVisible()
  const shown = await label.evaluate(
    (cell) => cell.ownerDocument.defaultView!.getComputedStyle(cell, '::before').content,
  )
  expect(shown).toMatch(FRENCH_COLON)
  await chooseOwn(page, service, null)
})
