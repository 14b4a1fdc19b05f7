import { expect, test, type Page } from '@playwright/test'
import { ADMIN_API, callDemo, complaintsOf, holdAnswers, openPage } from './admin.ts'
import { makePartner } from './partner-access.ts'
import { fillSlip, slip } from './slip.ts'
import { withSignedInService } from './with-service.ts'

const YEAR = new Date().getFullYear() + 1
const STALE_AFTER_MS = 15_000
/** The scripts of the questions that a save may ask. */
const QUESTIONS = /\/assets\/(proof|session-ended)-[^/]+\.js$/

const service = withSignedInService()

const call = <T>(page: Page, path: string, data?: object, method?: string) =>
  callDemo<T>(page, service, path, data, method)

const addMember = (page: Page, name: string) => call<{ id: number; name: string }>(page, '/members', { name })

/** As an administrator who looks into another window for a while: what is shown is read again. */
async function lookAway(page: Page): Promise<void> {
  await page.clock.fastForward(2 * STALE_AFTER_MS)
  await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
}

const proofRequired = {
  status: 403,
  json: { error: 'proof_required', error_description: 'Prove that it is you.', request_id: 'r-1' },
}

test('a day that does not exist does not take the expiry away', async ({ page }) => {
  const { partnerId, id } = await makePartner(page, service, 'Half a day')
  const expiry = async () =>
    (await call<{ clients: { expires_at: string | null }[] }>(page, `/partners/${partnerId}`)).clients[0]!.expires_at
  await call(page, `/clients/${id}/expiry`, { expires_at: `${YEAR}-06-30T12:00:00Z` })
  const before = await expiry()
  await openPage(page, service, `partners/${partnerId}`, 'Half a day')
  const open = page.getByRole('button', { name: `Expiry of ${id}` })
  await open.click()
  const dialog = page.getByRole('dialog', { name: 'When do these credentials expire?' })
  const day = dialog.getByLabel('Last day')
  await expect(day).toHaveValue(`${YEAR}-06-30`)
  await day.focus()
  // The month: 30 February.
  await page.keyboard.type('02')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByText('This is not a day.')).toBeVisible()
  await expect(day).toBeFocused()
  expect(await expiry()).toBe(before)

  await day.fill(`${YEAR}-02-28`)
  await expect(dialog.getByText('This is not a day.')).toBeHidden()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toBeHidden()
  expect(await expiry()).not.toBe(before)
  // An empty field means what it says.
  await open.click()
  await day.fill('')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('The credentials do not expire')).toBeVisible()
  expect(await expiry()).toBeNull()
})

test('a save keeps what was typed when the scripts of its question are gone', async ({ page }) => {
  await page.route(QUESTIONS, (route) => route.fulfill({ status: 404 }))
  await openPage(page, service, 'partners', 'Partners')
  await page.getByRole('button', { name: 'Add partner' }).click()
  const form = page.getByRole('dialog', { name: 'Add a partner' })
  await form.getByLabel('Name').fill('Typed with care')
  await form.getByLabel('Read balances').check()
  await page.route('**/partners', (route) =>
    route.request().method() === 'POST' ? route.fulfill(proofRequired) : route.continue(),
  )
  for (let tries = 0; tries < 2; tries++) {
    const asked = page.waitForRequest((request) => request.method() === 'POST')
    await form.getByRole('button', { name: 'Add partner' }).click()
    await asked
    await expect(form.getByRole('alert')).toBeVisible()
    await expect(form.getByLabel('Name')).toHaveValue('Typed with care')
  }
})

test('fields cannot be edited while they are being saved', async ({ page }) => {
  const { id } = await addMember(page, 'Slow Save')
  await openPage(page, service, `members/${id}`, 'Slow Save')
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  const name = dialog.getByLabel('Name')
  await expect(name).toBeEditable()
  await name.fill('Slowly Saved')
  const release = await holdAnswers(page, new RegExp(`/members/${id}$`), 'PATCH')
  await name.press('Enter')
  await expect(name).not.toBeEditable()
  await page.keyboard.type(' too late')
  await expect(name).toHaveValue('Slowly Saved')
  release()
  await expect(dialog).toBeHidden()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Slowly Saved')
})

test('an open tab can still ask for a proof and show a secret after an upgrade', async ({ page }) => {
  const loaded = page.waitForResponse(/\/assets\/shown-secret-[^/]+\.js$/)
  const questions = page.waitForResponse(QUESTIONS)
  await openPage(page, service, 'partners', 'Partners')
  await page.getByRole('button', { name: 'Add partner' }).click()
  const form = page.getByRole('dialog', { name: 'Add a partner' })
  await form.getByLabel('Name').fill('After the upgrade')
  await form.getByLabel('Read balances').check()
  await Promise.all([loaded, questions])
  await page.waitForLoadState('networkidle')
  await page.route('**/assets/**', (route) => route.fulfill({ status: 404 }))
  let asked = 0
  await page.route('**/partners', (route) =>
    route.request().method() === 'POST' && asked++ === 0 ? route.fulfill(proofRequired) : route.continue(),
  )
  await page.route('**/session/proof', (route) => route.fulfill({ status: 200, json: { data: {} } }))
  await form.getByRole('button', { name: 'Add partner' }).click()
  const proof = page.getByRole('dialog', { name: 'Is it still you?' })
  await proof.getByLabel('Password', { exact: true }).fill('any')
  await proof.getByRole('button', { name: 'Continue' }).click()
  const secret = page.getByRole('dialog', { name: 'Credentials of After the upgrade' })
  await expect(secret.locator('pre')).toHaveCount(3)
})

test('the mark of a duplicate goes with its slip, and with a correction', async ({ page }) => {
  const [giver, receiver] = [await addMember(page, 'Gerda Twice'), await addMember(page, 'Rolf Twice')]
  await openPage(page, service, 'exchanges/record', 'Record exchanges')
  const marked = page.locator('[data-duplicate]')
  await fillSlip(slip(page, 1), giver.name, receiver.name, '1')
  await fillSlip(slip(page, 2), giver.name, receiver.name, '1')
  await fillSlip(slip(page, 3), giver.name, receiver.name, '3')
  await page.getByRole('button', { name: 'Record 3 exchanges' }).click()
  await expect(slip(page, 2)).toContainText('the same exchange as slip 1')
  await page.getByRole('button', { name: 'Remove slip 2' }).click()
  await expect(slip(page, 2).getByLabel('Hours')).toHaveValue('3')
  await expect(marked).toHaveCount(0)

  await slip(page, 2).getByLabel('Hours').fill('1')
  await page.getByRole('button', { name: 'Record 2 exchanges' }).click()
  await expect(marked).toHaveCount(1)
  await slip(page, 2).getByLabel('Hours').fill('2')
  await expect(marked).toHaveCount(0)
})

test('slips stay when what was shown before them cannot be read again', async ({ page }) => {
  const { id, name } = await addMember(page, 'Slipa Stays')
  await page.clock.install()
  await openPage(page, service, `exchanges/record?member=${id}`, 'Record exchanges')
  await slip(page, 1).getByLabel('Note').fill('Bread')
  await page.route(`**/members/${id}`, (route) => route.fulfill({ status: 500, json: { error: 'internal_error' } }))
  await page.route('**/members?*', (route) => route.fulfill({ json: { data: [], meta: { next_cursor: null } } }))
  const again = page.waitForResponse(new RegExp(`/members/${id}$`))
  await lookAway(page)
  await again
  await expect(slip(page, 1).getByLabel('Note')).toHaveValue('Bread')
  await expect(page.getByRole('alert')).toHaveCount(0)
  await expect(slip(page, 1).getByLabel('Gave time')).toHaveValue(name)
})

test('the listing of a member who is no longer on the slip is not recorded', async ({ page }) => {
  const [giver, other] = [await addMember(page, 'Lista Owner'), await addMember(page, 'Otto Other')]
  const receiver = await addMember(page, 'Rosa Receiver')
  const listing = { member_id: giver.id, type: 'service', title: 'Bread from Lista', category: 'Kitchen' }
  await call(page, '/listings', listing)
  await openPage(page, service, 'exchanges/record', 'Record exchanges')
  const row = slip(page, 1)
  await fillSlip(row, giver.name, receiver.name, '1')
  const purpose = row.getByLabel('For', { exact: true })
  await purpose.selectOption('Bread from Lista')
  await row.getByLabel('Received it').fill(other.name)
  await page.getByRole('option', { name: other.name }).click()
  await expect(purpose.locator('option:checked')).toHaveText('Bread from Lista')
  await row.getByLabel('Received it').fill(receiver.name)
  await page.getByRole('option', { name: receiver.name }).click()
  await row.getByLabel('Gave time').fill(other.name)
  await page.getByRole('option', { name: other.name }).click()
  await expect(purpose).toHaveValue('')
  const sent = page.waitForRequest(/\/exchanges$/)
  await page.getByRole('button', { name: 'Record the exchange' }).click()
  expect((await sent).postDataJSON().slips[0]).not.toHaveProperty('listing_id')
})

test('the details of a partner are saved after it was suspended on the same page', async ({ page }) => {
  const { partnerId } = await makePartner(page, service, 'Paused Bank')
  await openPage(page, service, `partners/${partnerId}`, 'Paused Bank')
  await page.getByRole('button', { name: 'Suspend …' }).click()
  await page.getByRole('button', { name: 'Suspend', exact: true }).click()
  await expect(page.getByText('Every call of this partner is refused.')).toBeVisible()
  await page.getByLabel('Contact').fill('Ada, on leave')
  // Digits of any language.
  await page.getByLabel('Calls per minute').fill('١٢٠')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByText('Saved. It takes effect at once.')).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
  const saved = { contact: 'Ada, on leave', rate_limit_per_minute: 120, status: 'suspended' }
  expect(await call(page, `/partners/${partnerId}`)).toMatchObject(saved)
})

test('a change rejected because of a newer one can be repeated after a review', async ({ page }) => {
  const { id } = await call<{ id: number }>(page, '/categories', { name: 'Garden of one' })
  await openPage(page, service, 'community?part=categories', 'Settings')
  await expect(page.getByText('Garden of one')).toBeVisible()
  await call(page, `/categories/${id}`, { name: 'Garden of all' }, 'PATCH')
  await page.getByRole('button', { name: 'Retire: Garden of one' }).click()
  const question = page.getByRole('dialog')
  await question.getByRole('button', { name: 'Retire' }).click()
  await expect(question.getByRole('alert')).toContainText('Somebody else changed this')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Retire: Garden of all' }).click()
  await question.getByRole('button', { name: 'Retire' }).click()
  await expect(page.getByRole('row').filter({ hasText: 'Garden of all' })).toContainText('Retired')
})

test('a link to the form opens one form, even in an empty list', async ({ page }) => {
  await page.route(/admin\/v1.*\/members\?/, (route) =>
    route.fulfill({ json: { data: [], meta: { next_cursor: null, total: 0 } } }),
  )
  await page.goto(`${service.url}/console/demo/members?add=true`)
  const forms = page.getByRole('dialog', { name: 'Add a member' })
  await expect(page.getByText('No members yet')).toBeVisible()
  await expect(forms.first()).toBeVisible()
  await expect(forms).toHaveCount(1)
  await forms.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Add member' }).click()
  await expect(forms).toHaveCount(1)
})

test('a member who was added is shown without waiting for the list', async ({ page }) => {
  await openPage(page, service, 'members', 'Members')
  await page.getByRole('button', { name: 'Add member' }).click()
  const form = page.getByRole('dialog', { name: 'Add a member' })
  await form.getByLabel('Name').fill('Quentin Quick')
  const release = await holdAnswers(page, /\/members\?/, 'GET')
  await form.getByRole('button', { name: 'Add member' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Quentin Quick')
  release()
})

test('a filter of the address that is not offered is shown, and can be taken away', async ({ page }) => {
  await openPage(page, service, 'members?tag=long+gone', 'Members')
  const tag = page.getByLabel('Tag')
  await expect(tag.locator('option:checked')).toHaveText('long gone')
  await tag.selectOption('All')
  await expect(page).not.toHaveURL(/tag=/)
})

test('the console works in a browser that forbids it to store anything', async ({ page }) => {
  const complaints = complaintsOf(page)
  await page.addInitScript(`
    Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError') } })`)
  await openPage(page, service, 'exchanges', 'Exchanges')
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  expect((await download).suggestedFilename()).toMatch(/\.csv$/)
  expect(complaints).toEqual([])
})

test('a failed sign-out says why', async ({ page }) => {
  await openPage(page, service, 'overview', 'Overview')
  await page.route(`**${ADMIN_API}/session`, (route) =>
    route.request().method() === 'DELETE' ? route.abort() : route.continue(),
  )
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('No connection to the service. Nothing you typed is lost')).toBeVisible()
})
