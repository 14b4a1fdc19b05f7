import { expect, type Page } from '@playwright/test'
import { EventEmitter, once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { isFullVolume } from '../test/volume.ts'
import { axe, STANDARDS } from './axe.ts'
import type { Service } from './service.ts'

export const PASSWORD = 'correct horse battery'
export const ADMIN_API = '/api/admin/v1'
const OVERLOADED = 503
const SECOND_MS = 1000
const NARROW = { width: 360, height: 740 }
const WIDE = { width: 1280, height: 800 }

/** Returns the administrator of the demo community from the service's output. */
export function printedAdmin(service: Service): { email: string; password: string } {
  const [, email] = /Administrator\s+(\S+)/.exec(service.output()) ?? []
  const [, password] = /One-time password\s+(\S+)/.exec(service.output()) ?? []
  if (!email || !password) throw new Error(`no administrator was printed:\n${service.output()}`)
  return { email, password }
}

const ready = new WeakMap<Service, Promise<string>>()

/** Changes the one-time password, once per service, and returns the email address. */
async function prepareAdmin(service: Service): Promise<string> {
  const { email, password } = printedAdmin(service)
  const post = async (path: string, body: object, cookie = ''): Promise<Response> => {
    const response = await fetch(`${service.url}${ADMIN_API}${path}`, {
      method: 'POST',
      headers: { origin: service.url, 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
    // On a busy machine, the service may reject calls for a moment.
    if (response.status !== OVERLOADED) return response
    await setTimeout(Number(response.headers.get('retry-after')) * SECOND_MS)
    return post(path, body, cookie)
  }
  if ((await post('/session', { email, password: PASSWORD })).ok) return email
  const signedIn = await post('/session', { email, password })
  const cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!
  const changed = await post('/password', { current_password: password, new_password: PASSWORD }, cookie)
  if (!changed.ok) throw new Error(`the password could not be changed: ${await changed.text()}`)
  return email
}

/** Signs the browser in without the form. */
export async function signIn(page: Page, service: Service, who?: { email: string; password: string }): Promise<void> {
  if (!ready.has(service)) ready.set(service, prepareAdmin(service))
  const email = await ready.get(service)!
  const options = { headers: { origin: service.url }, data: who ?? { email, password: PASSWORD } }
  const send = () => page.request.post(`${service.url}${ADMIN_API}/session`, options)
  let answer = await send()
  while (answer.status() === OVERLOADED) {
    await setTimeout(SECOND_MS)
    answer = await send()
  }
  expect(answer.status()).toBe(200)
}

/** Opens a page of a community, the demo unless another is named, and waits for its heading. */
export async function openPage(
  page: Page,
  service: Service,
  path: string,
  heading?: string | RegExp,
  slug = 'demo',
): Promise<void> {
  await page.goto(`${service.url}/console/${slug}/${path}`)
  const title = page.getByRole('heading', { level: 1 })
  await (heading ? expect(title).toHaveText(heading) : expect(title).toBeVisible())
}

/** Answers to these paths, or only to requests with this method, wait until the returned function is called. */
export async function holdAnswers(page: Page, paths: RegExp, method?: string): Promise<() => void> {
  const held = new EventEmitter()
  const released = once(held, 'release')
  await page.route(paths, async (route) => {
    if (method === undefined || route.request().method() === method) await released
    await route.continue()
  })
  return () => held.emit('release')
}

/** Calls the console's API for the demo community as the person who is signed in, and returns what it answers. */
export async function callDemo<T>(
  page: Page,
  service: Service,
  path: string,
  data?: object,
  method = data ? 'POST' : 'GET',
): Promise<T> {
  const answer = await page.request.fetch(`${service.url}${ADMIN_API}/communities/demo${path}`, {
    method,
    headers: { origin: service.url, 'if-match': '*' },
    ...(data && { data }),
  })
  expect(answer.ok(), `${path}: ${await answer.text()}`).toBe(true)
  return (await answer.json()).data
}

/** The language in which the person who is signed in reads the console; null leaves it to the community. */
export async function chooseOwn(page: Page, service: Service, language: string | null): Promise<void> {
  const address = `${service.url}${ADMIN_API}/session/language`
  const answer = await page.request.put(address, { headers: { origin: service.url }, data: { language } })
  expect(answer.status()).toBe(200)
}

/** Collects errors in the browser, including violations of the content security policy. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // The browser reports every response of 400 and above as an error; some tests provoke one.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if ((message.type() === 'error' || message.type() === 'warning') && !isAnswer) complaints.push(message.text())
  })
  return complaints
}

/** A dialog has less contrast while it fades in. Endless animations, such as spinners, do not count. */
const AT_REST = `
  document.getAnimations().every((one) => one.playState !== 'running' || one.effect.getTiming().iterations === Infinity) &&
  [...document.querySelectorAll('[role=dialog]')].every((dialog) => getComputedStyle(dialog).opacity === '1')`

/** A dialog takes the focus shortly after it opens; focus set before that would be lost. */
export async function dialogHasFocus(page: Page, dialog = page.getByRole('dialog')): Promise<void> {
  await expect(dialog.locator(':focus')).toBeVisible()
}

const SCHEMES = ['light', 'dark'] as const

/**
 * Expects no accessibility violation, and no horizontal scrolling on a small screen. Colours in the dark are checked in
 * the full volume only: axe takes a second or more, and every-page.spec.ts checks the main pages in both schemes.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await expectNoViolations(page, isFullVolume ? SCHEMES : ['light'])
  const before = page.viewportSize() ?? WIDE
  await page.setViewportSize(NARROW)
  await expectNoSidewaysScrolling(page)
  await page.setViewportSize(before)
}

/** At the current size. */
export async function expectNoViolations(page: Page, schemes: readonly ('light' | 'dark')[] = SCHEMES): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // A script switches the page; a check before that would see it half light and half dark.
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme)
    await expect.poll(() => page.evaluate(AT_REST), { message: 'something on the page keeps moving' }).toBe(true)
    const checks = axe(page)
    // Nobody can use the page behind a dialog, which covers whatever it happens to lie on.
    if ((await page.getByRole('dialog').count()) > 0) checks.include('[role=dialog]')
    // In the dark only colours differ.
    const { violations } = await (
      colorScheme === 'light' ? checks.withTags(STANDARDS) : checks.withRules('color-contrast')
    ).analyze()
    expect(
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })),
      colorScheme,
    ).toEqual([])
  }
}

/** The tables that are cut, with buttons out of view: the frame of each could be scrolled. */
const CUT_TABLES = `Array.from(document.querySelectorAll('[role=table]'))
  .filter(({ parentElement: frame }) => frame.scrollWidth > frame.clientWidth)
  .map((table) => table.getAttribute('aria-label'))`

export async function expectNoSidewaysScrolling(page: Page): Promise<void> {
  const { width } = page.viewportSize() ?? WIDE
  await expect
    .poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: 'the page scrolls sideways' })
    .toBeLessThanOrEqual(width)
  expect(await page.evaluate(CUT_TABLES), `tables that are cut at ${width} pixels`).toEqual([])
}
