import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'
import type { Service } from './service.ts'

export const PASSWORD = 'correct horse battery'
export const ADMIN_API = '/api/admin/v1'
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const NARROW = { width: 360, height: 740 }
const WIDE = { width: 1280, height: 800 }

/** The administrator of the demo community, as the service printed them. */
export function printedAdmin(service: Service): { email: string; password: string } {
  const [, email] = /Administrator\s+(\S+)/.exec(service.output()) ?? []
  const [, password] = /One-time password\s+(\S+)/.exec(service.output()) ?? []
  if (!email || !password) throw new Error(`no administrator was printed:\n${service.output()}`)
  return { email, password }
}

const ready = new WeakMap<Service, Promise<string>>()

/** Has chosen a password of their own, once per service. Answers with the email address. */
async function prepareAdmin(service: Service): Promise<string> {
  const { email, password } = printedAdmin(service)
  const post = (path: string, body: object, cookie = '') =>
    fetch(`${service.url}${ADMIN_API}${path}`, {
      method: 'POST',
      headers: { origin: service.url, 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
  if ((await post('/session', { email, password: PASSWORD })).ok) return email
  const signedIn = await post('/session', { email, password })
  const cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!
  const changed = await post('/password', { current_password: password, new_password: PASSWORD }, cookie)
  if (!changed.ok) throw new Error(`the password could not be changed: ${await changed.text()}`)
  return email
}

/** Signs the browser in without the form: for tests of what comes after. */
export async function signIn(page: Page, service: Service, who?: { email: string; password: string }): Promise<void> {
  if (!ready.has(service)) ready.set(service, prepareAdmin(service))
  const email = await ready.get(service)!
  const answer = await page.request.post(`${service.url}${ADMIN_API}/session`, {
    headers: { origin: service.url },
    data: who ?? { email, password: PASSWORD },
  })
  expect(answer.status()).toBe(200)
}

/** A page of the demo community, with its heading. */
export async function openPage(page: Page, service: Service, path: string, heading?: string | RegExp): Promise<void> {
  await page.goto(`${service.url}/console/demo/${path}`)
  const title = page.getByRole('heading', { level: 1 })
  await (heading ? expect(title).toHaveText(heading) : expect(title).toBeVisible())
}

/** Collects what the browser complains of: errors, and what the content security policy blocked. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // The browser reports every answer of 400 and above as an error; tests that provoke one know it.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if ((message.type() === 'error' || message.type() === 'warning') && !isAnswer) complaints.push(message.text())
  })
  return complaints
}

/** While it fades in, a dialog has less contrast than it will have. What turns for as long as one waits does not count. */
const AT_REST = `
  document.getAnimations().every((one) => one.playState !== 'running' || one.effect.getTiming().iterations === Infinity) &&
  [...document.querySelectorAll('[role=dialog]')].every((dialog) => getComputedStyle(dialog).opacity === '1')`

/** A dialog takes the focus a moment after it has opened, and would take it away again from whatever had it before that. */
export async function dialogHasFocus(page: Page): Promise<void> {
  await expect(page.getByRole('dialog').locator(':focus')).toBeVisible()
}

/** What holds for every page as it stands: no violation in either scheme, no sideways scrolling on a small screen. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // The page follows by a script: looked at in between, it would be half light and half dark.
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme)
    await expect.poll(() => page.evaluate(AT_REST), { message: 'something on the page keeps moving' }).toBe(true)
    const { violations } = await new AxeBuilder({ page }).withTags(STANDARDS).analyze()
    expect(
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })),
      colorScheme,
    ).toEqual([])
  }
  const before = page.viewportSize() ?? WIDE
  await page.setViewportSize(NARROW)
  await expect
    .poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: 'the page scrolls sideways' })
    .toBeLessThanOrEqual(NARROW.width)
  await page.setViewportSize(before)
}
