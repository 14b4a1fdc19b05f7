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
const isEverything = isFullVolume || PICTURES !== undefined
const WIDTHS = isEverything ? [360, 768, 1440] : [768]
const HEIGHT = 900
const MANY_MEMBERS = 5000
/** A window of 1280 × 800 at 200 %. */
const ZOOMED = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }
const TABS_MAX = 150
/** For everything at once. Like the limit of other tests, it only finds what hangs. */
const EVERYTHING_MAX_MS = 60 * 60_000

interface Visit {
  path: string
  /** The buttons that open them. */
  dialogs?: (string | RegExp)[]
  /** Part of every test run. */
  isShort?: boolean
}

/** Every page of a community, and the dialogs that open with a button on it. */
const PAGES: Visit[] = [
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
/** Pages about one of what a community has; ID is its number. */
const MEMBER_PAGES: Visit[] = [
  {
    path: 'members/ID',
    dialogs: ['Edit', 'Adjust the balance', 'Hide from partners', 'Member leaves', 'Erase this person'],
  },
  { path: 'members/ID/statement' },
  { path: 'members/statements?ids=ID' },
]
const PARTNER_PAGES: Visit[] = [
  { path: 'partners/ID', dialogs: ['Add credentials …', /^New secret for/, /^Expiry of/, /^Revoke/, 'Suspend …'] },
]
const WEBHOOK_PAGES: Visit[] = [
  { path: 'webhooks/ID', dialogs: ['Send what failed …', 'Send again since …', 'Pause', 'Send a test event'] },
]
const TRANSFER_PAGES: Visit[] = [{ path: 'exchanges?transfer=ID' }]
/** Pages of no community, for somebody who is signed in or not. */
const OUTSIDE = { signedOut: ['sign-in', 'forgotten-password', 'set-up'], signedIn: ['account', ''] }
const RECEIVER = 'https://receiver.example/hourbank'

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
    const path = join(folder, `${name}-${colorScheme}.png`)
    // A dialog stays where the window is, not where the page begins.
    const fullPage = (await page.getByRole('dialog').count()) === 0
    await page.screenshot({ path, animations: 'disabled', fullPage })
  }
}

/** Data has arrived when nothing says that it is loading. */
const isLoaded = (page: Page) => expect(page.getByRole('status', { name: /^Loading/ })).toHaveCount(0)

for (const members of isEverything ? [MANY_MEMBERS, 0] : [0]) {
  test(`every page and its dialogs are accessible in a community of ${members} members`, async ({ page }) => {
    if (isEverything) test.setTimeout(EVERYTHING_MAX_MS)
    const complaints = complaintsOf(page)
    const slug = await makeCommunity(members)
    await signIn(page, service)
    const pages = isEverything ? [...PAGES, ...(await findPages(page, slug))] : PAGES.filter(({ isShort }) => isShort)
    for (const { path, dialogs = [] } of pages) {
      await test.step(path, async () => {
        await openPage(page, service, path, undefined, slug)
        await isLoaded(page)
        await look(page, `${members} ${path.replace(/\d+/, 'one')}`)
        await page.setViewportSize({ width: 1440, height: HEIGHT })
        for (const name of dialogs) {
          const button = page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) }).first()
          // A community without partners has no webhook to add.
          if (members === 0 && (await button.count()) === 0) continue
          await button.click()
          await expect(page.getByRole('dialog')).toBeVisible()
          await look(page, `${members} ${path.replace(/\d+/, 'one')} ${name}`)
          await page.setViewportSize({ width: 1440, height: HEIGHT })
          await page.keyboard.press('Escape')
          await expect(page.getByRole('dialog')).toBeHidden()
        }
      })
    }
    expect(complaints).toEqual([])
  })
}

/** The pages of the first member, partner and transfer, and of a webhook that was made for them to look at. */
async function findPages(page: Page, slug: string): Promise<Visit[]> {
  const address = `${service.url}${ADMIN_API}/communities/${slug}`
  const read = async (path: string) => (await (await page.request.get(`${address}${path}`)).json()).data
  const send = async (path: string, data?: object) => {
    const answer = await page.request.post(`${address}${path}`, { headers: { origin: service.url }, data })
    expect(answer.ok(), await answer.text()).toBe(true)
    return (await answer.json()).data
  }
  const [partner] = await read('/partners?q=Demo')
  if (!partner) return []
  const [[member], [transfer]] = [await read('/members'), await read('/transfers')]
  const { clients } = await read(`/partners/${partner.id}`)
  const of = { partner_id: partner.id, client_id: clients[0].client_id }
  const endpoint = { ...of, target_url: RECEIVER, event_types: ['wallet.*'], key: 'the-webhook-to-look-at' }
  const webhook = await send('/webhooks', endpoint)
  await send(`/webhooks/${webhook.id}/test`)
  const about = (visits: Visit[], { id }: { id: number }) =>
    visits.map((visit) => ({ ...visit, path: visit.path.replace('ID', String(id)) }))
  return [
    ...about(MEMBER_PAGES, member),
    ...about(PARTNER_PAGES, partner),
    ...about(WEBHOOK_PAGES, webhook),
    ...about(TRANSFER_PAGES, transfer),
  ]
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
