import { expect, test, type Locator, type Page } from '@playwright/test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isFullVolume } from '../test/volume.ts'
import {
  ADMIN_API,
  complaintsOf,
  expectNoSidewaysScrolling,
  expectNoViolations,
  openPage,
  printedAdmin,
  signIn,
} from './admin.ts'
import { germanTable } from './office-files.ts'
import { startService, type Service } from './service.ts'

/** A folder for pictures of every page, for people to look at. */
const PICTURES = process.env.PAGE_PICTURES
const WIDTHS = isFullVolume || PICTURES ? [360, 768, 1440] : [768]
const HEIGHT = 900
const MANY_MEMBERS = 5000
/** A window of 1280 × 800 at 200 %. */
const ZOOMED = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }
const TABS_MAX = 150

/** Every page of a community, and the dialogs that open with a button on it. */
const PAGES: { path: string; dialogs?: string[]; isShort?: boolean }[] = [
  { path: 'overview', isShort: true },
  { path: 'alerts' },
  { path: 'members', dialogs: ['Add member', 'Export CSV'], isShort: true },
  { path: 'members/import' },
  { path: 'listings', dialogs: ['Add listing', 'Export CSV'] },
  { path: 'listings/import' },
  { path: 'exchanges', dialogs: ['Adjust a balance'] },
  { path: 'exchanges/record', isShort: true },
  { path: 'partners', dialogs: ['Add partner'] },
  { path: 'webhooks', dialogs: ['Add webhook …'] },
  { path: 'calls' },
  { path: 'calls?view=chart' },
  { path: 'calls?view=errors' },
  { path: 'audit' },
  { path: 'community' },
  { path: 'community?part=administrators', dialogs: ['Invite'] },
  { path: 'community?part=categories', dialogs: ['Add a category'] },
  { path: 'community?part=partners' },
]
const MEMBER_PAGES = ['members/ID', 'members/ID/statement', 'members/statements?ids=ID']

let service: Service

test.beforeAll(async () => {
  service = await startService()
})

test.afterAll(async () => {
  await service?.stop()
})

/** Creates a community with so many members, of which the demo's administrator is an owner. */
async function makeCommunity(members: number): Promise<string> {
  const { slug } =
    members === 0
      ? await service.hourbank<{ slug: string }>('community', 'create', '--slug', 'nobody', '--name', 'Nobody yet')
      : await service.hourbank<{ slug: string }>('demo', '--members', `${members}`)
  const { email } = printedAdmin(service)
  await service.hourbank('admin', 'create', '--community', slug, '--email', email, '--name', 'Coordinator')
  return slug
}

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
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), animations: 'disabled', fullPage: true })
  }
}

/** Data has arrived when nothing says that it is loading. */
const isLoaded = (page: Page) => expect(page.getByRole('status', { name: /^Loading/ })).toHaveCount(0)

for (const members of isFullVolume || PICTURES ? [MANY_MEMBERS, 0] : [0]) {
  test(`every page and its dialogs are accessible in a community of ${members} members`, async ({ page }) => {
    const complaints = complaintsOf(page)
    const slug = await makeCommunity(members)
    await signIn(page, service)
    const [member] = await readList(page, slug, '/members')
    const [partner] = await readList(page, slug, '/partners')
    const found = [
      ...(member ? MEMBER_PAGES.map((path) => ({ path: path.replace('ID', `${member.id}`) })) : []),
      ...(partner ? [{ path: `partners/${partner.id}` }] : []),
    ]
    const pages = isFullVolume || PICTURES ? [...PAGES, ...found] : PAGES.filter(({ isShort }) => isShort)
    for (const { path, dialogs = [] } of pages as typeof PAGES) {
      await test.step(path, async () => {
        await openPage(page, service, path, undefined, slug)
        await isLoaded(page)
        await look(page, `${members} ${path.replace(/\d+/, 'one')}`)
        await page.setViewportSize({ width: 1440, height: HEIGHT })
        for (const name of dialogs) {
          const button = page.getByRole('button', { name, exact: true }).first()
          // A community without partners has no webhook to add.
          if (members === 0 && (await button.count()) === 0) continue
          await button.click()
          await expect(page.getByRole('dialog')).toBeVisible()
          await look(page, `${members} ${path} ${name}`)
          await page.setViewportSize({ width: 1440, height: HEIGHT })
          await page.keyboard.press('Escape')
          await expect(page.getByRole('dialog')).toBeHidden()
        }
      })
    }
    expect(complaints).toEqual([])
  })
}

async function readList(page: Page, slug: string, path: string): Promise<{ id: number }[]> {
  return (await (await page.request.get(`${service.url}${ADMIN_API}/communities/${slug}${path}`)).json()).data
}

test('at 200 % no page scrolls sideways, and its heading is in view', async ({ browser }) => {
  const context = await browser.newContext(ZOOMED)
  const page = await context.newPage()
  await signIn(page, service)
  for (const { path } of isFullVolume ? PAGES : PAGES.filter(({ isShort }) => isShort)) {
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
  await press(page.getByRole('button', { name: 'Check the file' }))
  const balance = page.getByRole('combobox', { name: 'Opening balance', exact: true })
  await tabTo(page, balance)
  await page.keyboard.type('Sal')
  await expect(balance.locator('option:checked')).toHaveText('Saldo')
  await press(page.getByRole('button', { name: 'Check the rows' }))
  await press(page.getByRole('button', { name: 'Import 1 row' }))
  await expect(page.getByRole('status').filter({ hasText: 'imported' })).toContainText('1 added')
})
