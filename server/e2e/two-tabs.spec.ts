import { expect, test } from '@playwright/test'
import { ADMIN_API, callDemo, complaintsOf, expectAccessible, openPage, PASSWORD, printedAdmin } from './admin.ts'
import { withSignedInService } from './with-service.ts'

const service = withSignedInService()

const admin = (path: string) => `${service.url}${ADMIN_API}/communities/demo${path}`

test('a tab opened earlier does not restore what another tab removed', async ({ page, context }) => {
  const { data } = await (
    await page.request.post(admin('/partners'), {
      headers: { origin: service.url },
      data: { name: 'Riverside Bank', scopes: ['users.read', 'users.pii'] },
    })
  ).json()
  const path = `partners/${data.partner_id}`
  const complaints = complaintsOf(page)
  await openPage(page, service, path, 'Riverside Bank')
  await page.getByLabel('Contact').fill('Ada, +43 1 234')

  const other = await context.newPage()
  await openPage(other, service, path, 'Riverside Bank')
  await other.getByLabel('See email addresses').uncheck()
  await other.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(other.getByText('Saved. It takes effect at once.')).toBeVisible()

  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const alert = page.getByRole('alert').filter({ hasText: 'Somebody else changed this' })
  await expect(alert).toContainText('Scopes: See members')
  await expect(page.getByLabel('Contact')).toHaveValue('Ada, +43 1 234')
  await expect(page.getByLabel('See email addresses')).not.toBeChecked()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByText('Saved. It takes effect at once.')).toBeVisible()
  const saved = (await (await page.request.get(admin(`/${path}`))).json()).data
  expect(saved).toMatchObject({ contact: 'Ada, +43 1 234', scopes: ['users.read'] })

  await page.getByRole('button', { name: 'Delete …' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete Riverside Bank?' })
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Partners')
  await expect(page.getByText('Riverside Bank is deleted')).toBeVisible()
  expect((await page.request.get(admin(`/${path}`))).status()).toBe(404)
  expect(complaints).toEqual([])
})

test('what is typed into a listing stays when another person closes it', async ({ page }) => {
  await page.clock.install()
  await openPage(page, service, 'listings?status=active', 'Listings')
  const [listing] = await callDemo<{ id: number; title: string }[]>(page, service, '/listings?status=active&limit=1')
  const { id, title } = listing!
  await page.getByRole('button', { name: `Edit “${title}”` }).click()
  const dialog = page.getByRole('dialog', { name: `Edit “${title}”` })
  await dialog.getByLabel('Description').fill('Half typed')
  await callDemo(page, service, `/listings/${id}/close`, {})
  // Back from another window, after as long as a list counts as fresh.
  await page.clock.fastForward(20_000)
  const again = page.waitForResponse(/\/listings\?/)
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
  await again
  await expect(page.getByRole('button', { name: `Edit “${title}”`, includeHidden: true })).toHaveCount(0)
  await expect(dialog.getByLabel('Description')).toHaveValue('Half typed')
})

test('a member is added once although the first response was lost', async ({ page }) => {
  await openPage(page, service, 'members', 'Members')
  let tries = 0
  await page.route('**/members', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    tries += 1
    const answer = await route.fetch()
    if (tries === 1) return route.abort('connectionreset')
    return route.fulfill({ response: answer })
  })
  await page.getByRole('button', { name: 'Add member' }).click()
  const form = page.getByRole('dialog', { name: 'Add a member' })
  await form.getByLabel('Name').fill('Zenobia Once')
  await form.getByRole('button', { name: 'Add member' }).click()
  await expect(form.getByText('No connection to the service.')).toBeVisible()
  await form.getByRole('button', { name: 'Add member' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Zenobia Once')
  const found = (await (await page.request.get(admin('/members?q=Zenobia'))).json()).data
  expect([tries, found.length]).toEqual([2, 1])
})

test('what one person typed is not saved in the name of another who signed in in the same browser', async ({
  page,
}) => {
  const invitation = { name: 'Berta', email: 'berta@example.org', role: 'owner', key: 'the-invitation-of-berta' }
  const { link } = await callDemo<{ link: { url: string } }>(page, service, '/administrators', invitation)
  await openPage(page, service, 'community', 'Settings')
  await page.getByLabel('Account holder').fill('Typed by the owner')

  // In another tab.
  const data = { token: new URL(link.url).hash.slice(1), password: PASSWORD, name: 'Berta' }
  const headers = { origin: service.url }
  expect((await page.request.post(`${service.url}${ADMIN_API}/links/use`, { headers, data })).ok()).toBe(true)
  const holder = async () => (await callDemo<{ account_holder: string | null }>(page, service, '')).account_holder
  const before = await holder()

  await page.getByRole('button', { name: 'Save' }).click()
  const ended = page.getByRole('dialog', { name: 'Your session has ended' })
  await expect(ended.getByLabel('Email')).toHaveValue(printedAdmin(service).email)
  expect(await holder()).toBe(before)
  await ended.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await ended.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText('Settings saved')).toBeVisible()
  expect(await holder()).toBe('Typed by the owner')
  await openPage(page, service, 'audit?action=community.', 'Audit')
  await expect(page.getByRole('table').getByRole('row').nth(1)).toContainText('Demo owner')
})
