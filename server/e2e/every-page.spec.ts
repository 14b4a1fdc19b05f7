import { expect, test, type Locator, type Page } from '@playwright/test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isFullVolume } from '../test/volume.ts'
import { complaintsOf, expectNoSidewaysScrolling, expectNoViolations, openPage, signIn } from './admin.ts'
import { germanTable } from './office-files.ts'
import { findPages, isLoaded, makeCommunity, OUTSIDE, PAGES, walk } from './pages.ts'
import { withService } from './with-service.ts'

/** A folder for pictures of every page, for people to look at. */
const PICTURES = process.env.PAGE_PICTURES
const isEverything = isFullVolume || PICTURES !== undefined
const WIDTHS = isEverything ? [360, 768, 1440] : [768]
const HEIGHT = 900
const MANY_MEMBERS = 5000
/** A window of 1280 × 800 at 200 %. */
const ZOOMED = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }
const TABS_MAX = 150
/** For everything at once. Like the limit of other tests, it only finds what hangs. */
const EVERYTHING_MAX_MS = 60 * 60_000

const SHORT = PAGES.filter(({ isShort }) => isShort)

const service = withService()

async function look(page: Page, name: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT })
    await expectNoSidewaysScrolling(page)
    if (PICTURES) await takePictures(page, PICTURES, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}-${width}`)
    else await expectNoViolations(page)
  }
}

async function takePictures(page: Page, folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const path = join(folder, `${name}-${colorScheme}.png`)
    // A dialog stays where the window is, not where the page begins.
    const fullPage = (await page.getByRole('dialog').count()) === 0
    await page.screenshot({ path, animations: 'disabled', fullPage })
  }
}

for (const members of isEverything ? [MANY_MEMBERS, 0] : [0]) {
  test(`every page and its dialogs are accessible in a community of ${members} members`, async ({ page }) => {
    if (isEverything) test.setTimeout(EVERYTHING_MAX_MS)
    const complaints = complaintsOf(page)
    const slug = await makeCommunity(service, members)
    await signIn(page, service)
    const visits = isEverything ? [...PAGES, ...(await findPages(page, service, slug))] : SHORT
    await walk(page, service, { slug, visits, look: (name) => look(page, `${members} ${name}`) })
    expect(complaints).toEqual([])
  })
}

test('the pages of no community are accessible', async ({ page }) => {
  const visit = async (path: string) => {
    await page.goto(`${service.url}/console/${path}`)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await isLoaded(page)
    await look(page, `outside ${path || 'chooser'}`)
  }
  for (const path of isEverything ? OUTSIDE.signedOut : []) await visit(path)
  await signIn(page, service)
  for (const path of isEverything ? OUTSIDE.signedIn : ['']) await visit(path)
})

test('at 200 % no page scrolls sideways, and its heading is in view', async ({ browser }) => {
  const context = await browser.newContext(ZOOMED)
  const page = await context.newPage()
  await signIn(page, service)
  for (const { path } of isFullVolume ? PAGES : SHORT) {
    await openPage(page, service, path)
    await isLoaded(page)
    await expectNoSidewaysScrolling(page)
    await expect(page.getByRole('heading', { level: 1 })).toBeInViewport()
  }
  await context.close()
})

test('with reduced motion, a dialog opens without an animation', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await signIn(page, service)
  await openPage(page, service, 'members', 'Members')
  // Recorded from the start, because a short one would be over before anybody looked. Style sheets shorten them to
  // 0.01 ms instead of removing them, so that their ends are still reported.
  await page.evaluate(`
    window.moved = []
    const isSeen = (one) => one.effect.getComputedTiming().duration > 1
    for (const type of ['transitionrun', 'animationstart'])
      document.addEventListener(
        type,
        ({ target }) => target.getAnimations().some(isSeen) && window.moved.push(target.outerHTML.slice(0, 80)),
        true,
      )`)
  await page.getByRole('button', { name: 'Add member' }).click()
  await expect(page.getByRole('dialog').locator(':focus')).toBeVisible()
  expect(await page.evaluate('window.moved')).toEqual([])
})

/** Presses Tab until the element has the focus, as somebody without a mouse would. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible()
  for (let n = 0; n < TABS_MAX; n++) {
    if ((await target.and(page.locator(':focus')).count()) === 1) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${target}`)
}

test('a table is imported by keyboard alone', async ({ page }) => {
  await signIn(page, service)
  await openPage(page, service, 'members/import', 'Import members')
  // The dialog in which the system asks for a file is not the page's.
  await page.setInputFiles('input[type=file]', germanTable('Liste.csv', 'Nummer;Name;Saldo', 'K-1;Karla Taste;1,5'))
  const press = async (target: Locator) => {
    await tabTo(page, target)
    await page.keyboard.press('Enter')
  }
  const expectStep = (title: string) => expect(page.getByRole('heading', { name: title })).toBeFocused()
  await press(page.getByRole('button', { name: 'Check the file' }))
  await expectStep('Which column is which?')
  const balance = page.getByRole('combobox', { name: 'Opening balance', exact: true })
  await tabTo(page, balance)
  await page.keyboard.type('Sal')
  await expect(balance.locator('option:checked')).toHaveText('Saldo')
  await press(page.getByRole('button', { name: 'Check the rows' }))
  await expectStep('What would happen')
  await press(page.getByRole('button', { name: 'Import 1 row' }))
  await expectStep('Result')
  await expect(page.getByRole('status').filter({ hasText: 'imported' })).toContainText('1 added')
})
