import { expect, test, type Page, type Response } from '@playwright/test'
import {
  ADMIN_API,
  complaintsOf,
  expectAccessible,
  holdAnswers,
  openPage,
  PASSWORD,
  printedAdmin,
  signIn,
} from './admin.ts'
import { startService } from './service.ts'
import { withService } from './with-service.ts'

const FIRST_LOAD_BYTES_MAX = 170 * 1024

const service = withService()

test('the root leads to the console, a one-time password must be changed, and the new one opens the overview', async ({
  page,
}) => {
  const { email, password } = printedAdmin(service)
  await page.goto(`${service.url}/`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in')

  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill('not the password')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toContainText('wrong')
  await expect(page.getByLabel('Email')).toHaveValue(email)

  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Choose your own password')
  await page.getByLabel('One-time password').fill(password)
  await page.getByLabel('New password').fill('short')
  await page.keyboard.press('Enter')
  // In the description and, once it is rejected, in the error: until then, Enter is ignored.
  await expect(page.getByText('at least 12 characters.', { exact: false })).toHaveCount(2)
  await expect(page.getByLabel('New password')).toHaveValue('short')
  await page.getByLabel('New password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Overview')
  await expect(page).toHaveURL(`${service.url}/console/demo/overview`)
  await expect(page.getByText('Active members')).toBeVisible()
})

test('after a session ends during typing, signing in again continues and sends what was typed', async ({ page }) => {
  await signIn(page, service)
  await page.goto(`${service.url}/console/account`)
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill(`${PASSWORD} staple`)
  // A panel that loads late must not notice the end of the session before the form does.
  const release = await holdAnswers(page, new RegExp(ADMIN_API), 'GET')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Change password' }).click()

  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('nothing you typed is lost')
  release()
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText('Password changed')).toBeVisible()

  await page.getByLabel('Current password').fill(`${PASSWORD} staple`)
  await page.getByLabel('New password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByLabel('New password')).toHaveValue('')
})

test('a lost connection is reported, keeps what was typed, and the page recovers by itself', async ({ page }) => {
  await signIn(page, service)
  await page.goto(`${service.url}/console/account`)
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill('something new here')
  await page.route(`**${ADMIN_API}/**`, (route) => route.abort())
  await page.route('**/readyz', (route) => route.abort())
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByRole('alert')).toContainText('No connection')
  await expect(page.getByLabel('New password')).toHaveValue('something new here')

  await page.getByRole('link', { name: 'Overview' }).first().click()
  await expect(page.getByRole('status').filter({ hasText: 'Trying again' })).toBeVisible()
  await page.unrouteAll()
  await expect(page.getByText('Active members')).toBeVisible()
  await expect(page.getByRole('status').filter({ hasText: 'Trying again' })).toHaveCount(0)
})

test('a full disk is reported with what to do, while pages stay readable', async ({ page }) => {
  await signIn(page, service)
  await page.goto(`${service.url}/console/account`)
  const reason = 'The disk of the database is full, so nothing can be saved. Free space on it.'
  const unavailable = { status: 503, json: { status: 'unavailable', reason } }
  await page.route('**/readyz', (route) => route.fulfill(unavailable))
  await page.route(`**${ADMIN_API}/**`, (route) => {
    if (route.request().method() === 'GET') return route.continue()
    return route.fulfill({ status: 503, json: { error: 'unavailable', error_description: 'Nothing was saved.' } })
  })
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill('something new here')
  await page.getByRole('button', { name: 'Change password' }).click()
  const banner = page.getByRole('status').filter({ hasText: 'Free space on it.' })
  await expect(banner).toBeVisible()
  await page.getByRole('link', { name: 'Overview' }).first().click()
  await expect(page.getByText('Active members')).toBeVisible()
  await expect(banner).toBeVisible()
  await page.unrouteAll()
  await expect(banner).toHaveCount(0)
})

test('a deep link leads through the sign-in to its target, and the back button works', async ({ page }) => {
  await signIn(page, service)
  await page.context().clearCookies()
  await page.goto(`${service.url}/console/demo/members?q=anna`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in')
  const { email } = printedAdmin(service)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/console\/demo\/members\?q=anna$/)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Members')
  await page.getByRole('link', { name: 'Audit' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Audit')
  await page.goBack()
  await expect(page).toHaveURL(/\/console\/demo\/members\?q=anna$/)
  await page.goto(`${service.url}/console/demo/no-such-page`)
  await expect(page.getByRole('heading', { level: 1 })).toContainText('not found', { ignoreCase: true })
})

test('after the sign-in, an invalid address leads to the console', async ({ page }) => {
  await signIn(page, service)
  await page.goto(`${service.url}/console/sign-in?next=http%3A%2F%2F`)
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page).toHaveURL(`${service.url}/console/demo/overview`)
})

test('Ctrl-K finds pages, members and partners, without a mouse', async ({ page }) => {
  await signIn(page, service)
  await openPage(page, service, 'overview', 'Overview')
  await openSearch(page)
  await page.keyboard.type('audi')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Audit')
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  await openSearch(page)
  await page.keyboard.type('Demo bank')
  await expect(page.getByRole('dialog').getByText('Demo bank')).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Demo bank')
})

test('a day is typed into a filter digit by digit', async ({ page }) => {
  await signIn(page, service)
  for (const [path, label, filter] of [
    ['exchanges', 'From', 'from'],
    ['calls?period=days', 'From day', 'since'],
  ] as const) {
    await openPage(page, service, path)
    await page.getByLabel(label, { exact: true }).focus()
    // Slow enough for an address to follow in between.
    await page.keyboard.type('01152026', { delay: 150 })
    await expect(page).toHaveURL(new RegExp(`${filter}=2026-01-15`))
    await expect(page.getByLabel(label, { exact: true })).toHaveValue('2026-01-15')
  }
})

test('Enter in the search means the first result, also before it has arrived', async ({ page }) => {
  await signIn(page, service)
  await openPage(page, service, 'overview', 'Overview')
  const release = await holdAnswers(page, /\/search\?/)
  await openSearch(page)
  await page.keyboard.type('Demo bank')
  await page.keyboard.press('Enter')
  release()
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Demo bank')
})

test('Enter in the search does not take a result of what was typed before', async ({ page }) => {
  await signIn(page, service)
  await openPage(page, service, 'overview', 'Overview')
  await openSearch(page)
  await page.keyboard.type('De')
  await expect(page.getByRole('dialog').getByText('Lejla Delić')).toBeVisible()
  const release = await holdAnswers(page, /\/search\?/)
  await page.keyboard.type('mo bank')
  await page.keyboard.press('Enter')
  release()
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Demo bank')
})

async function openSearch(page: Page): Promise<void> {
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('dialog').getByRole('combobox')).toBeFocused()
}

test('the console loads nothing from other hosts, follows its policy, and its first scripts stay small', async ({
  page,
}) => {
  const responses: Response[] = []
  page.on('response', (response) => responses.push(response))
  const complaints = complaintsOf(page)
  await signIn(page, service)
  await page.goto(`${service.url}/console/`)
  await expect(page.getByText('Active members')).toBeVisible()

  const origins = new Set(responses.map((response) => new URL(response.url()).origin))
  expect([...origins]).toEqual([service.url])
  expect(complaints).toEqual([])

  const policy = responses.find((response) => response.url() === `${service.url}/console/`)!.headers()
  expect(policy['content-security-policy']).toContain("default-src 'self'")
  expect(policy['content-security-policy']).not.toContain('unsafe')
  const hashed = responses.filter((response) => response.url().includes('/assets/'))
  expect(hashed.length).toBeGreaterThan(2)
  for (const response of hashed) {
    expect(response.headers()['cache-control']).toBe('public, max-age=31536000, immutable')
    const { headers } = await fetch(response.url(), { headers: { 'accept-encoding': 'br' } })
    // What is compressed for each request has no length.
    expect([headers.get('content-encoding'), headers.has('content-length')], response.url()).toEqual(['br', true])
  }
})

test('the first load, signed in or not, has at most 170 KB of script', async ({ page }) => {
  expect(await scriptBytes(page, 'sign-in')).toBeLessThanOrEqual(FIRST_LOAD_BYTES_MAX)
  await signIn(page, service)
  expect(await scriptBytes(page, 'demo/community')).toBeLessThanOrEqual(FIRST_LOAD_BYTES_MAX)
})

async function scriptBytes(page: Page, path: string): Promise<number> {
  const scripts: Response[] = []
  const keep = (response: Response) => {
    if (response.request().resourceType() === 'script') scripts.push(response)
  }
  page.on('response', keep)
  await page.goto(`${service.url}/console/${path}`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  page.off('response', keep)
  const sizes = await Promise.all(scripts.map((response) => response.request().sizes()))
  expect(sizes.length).toBeGreaterThan(0)
  for (const response of scripts) expect(response.headers()['content-encoding'], response.url()).toMatch(/br|gzip/)
  return sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
}

test('a script injected into the page does not run', async ({ page }) => {
  await signIn(page, service)
  await openPage(page, service, 'overview', 'Overview')
  const ran = await page.evaluate(`new Promise((resolve) => {
    document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective))
    const script = document.createElement('script')
    script.textContent = 'window.ran = true'
    document.body.append(script)
    if (window.ran) resolve('ran')
  })`)
  expect(ran).toBe('script-src-elem')
})

test('the sign-in, the account and the overview are accessible, also on a small screen', async ({ page }) => {
  await page.goto(`${service.url}/console/sign-in`)
  await expect(page.getByLabel('Email')).toBeVisible()
  await expectAccessible(page)
  await signIn(page, service)
  await page.goto(`${service.url}/console/account`)
  await expect(page.getByText('This one')).toBeVisible()
  await expectAccessible(page)
  await openPage(page, service, 'overview', 'Overview')
  await expect(
    page
      .getByRole('img', { name: /Hours exchanged/ })
      .locator('svg')
      .first(),
  ).toBeVisible()
  await expectAccessible(page)
})

test('without an administrator the console offers set-up, by the link that the server printed', async ({ page }) => {
  const empty = await startService({ DEMO: 'off' })
  try {
    const [link] = /http\S+\/console\/set-up#\S+/.exec(empty.output()) ?? []
    expect(link).toBeDefined()
    await page.goto(`${empty.url}/console/`)
    await page.getByRole('link', { name: 'Set it up' }).click()
    await expect(page.getByText('prints the link when it starts')).toBeVisible()
    await expectAccessible(page)

    await page.goto(link!)
    await page.getByLabel('Your name').fill('Ada')
    await page.getByLabel('Email').fill('ada')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('Name of the community').fill('Riverside')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Set up' }).click()
    await expect(page.getByText('ada is not an email address.').first()).toBeVisible()
    await expect(page.getByLabel('Your name')).toHaveValue('Ada')
    await page.getByLabel('Email').fill('ada@riverside.example')
    await page.getByRole('button', { name: 'Set up' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Overview')
    await expect(page.getByRole('heading', { name: 'First steps' })).toBeVisible()
    await expectAccessible(page)

    await page.context().clearCookies()
    await page.goto(link!)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Already set up')
  } finally {
    await empty.stop()
  }
})
