import { expect, test, type Page } from '@playwright/test'
import { ADMIN_API, callDemo, complaintsOf, expectAccessible, openPage } from './admin.ts'
import { buttonNamed } from './pages.ts'
import { askToken, makePartner, waitForCalls } from './partner-access.ts'
import type { Receiver } from './receiver.ts'
import type { Service } from './service.ts'
import { withReceiver } from './with-receiver.ts'

/** All of them take minutes; they are for changes of a page, with a folder for its pictures. */
const WIDTHS = process.env['PICTURE_DIR'] ? [360, 768, 1600] : [1280]

let service: Service
let receiver: Receiver

withReceiver((started) => ({ service, receiver } = started))

/** In both schemes, and with PICTURE_DIR on a phone, a tablet and a large screen. */
async function expectAccessibleEverywhere(page: Page, picture?: string): Promise<void> {
  const before = page.viewportSize()!
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    await expectAccessible(page)
    const folder = process.env['PICTURE_DIR']
    if (folder && picture) await page.screenshot({ path: `${folder}/${picture}-${width}.png`, fullPage: true })
  }
  await page.setViewportSize(before)
}

async function post(page: Page, path: string, data: object): Promise<any> {
  const answer = await page.request.post(`${service.url}${ADMIN_API}/communities/demo${path}`, {
    headers: { origin: service.url },
    data,
  })
  expect(answer.ok(), await answer.text()).toBe(true)
  return (await answer.json()).data
}

test('the overview begins with what needs attention, and leads to it', async ({ page }) => {
  const complaints = complaintsOf(page)
  await openPage(page, service, 'overview', 'Overview')
  const attention = page.getByRole('region', { name: 'Needs attention' })
  await expect(attention.getByText('administrator has no second factor')).toBeVisible()
  await expectAccessibleEverywhere(page, 'overview')
  await page.getByRole('link', { name: 'Alerts: none' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Alerts')
  await expect(page.getByText('No open alerts')).toBeVisible()
  await expectAccessibleEverywhere(page, 'alerts')
  await page.getByRole('link', { name: 'Choose your alerts' }).click()
  const choices = page.getByRole('region', { name: 'Alerts' })
  const boxes = choices.getByRole('group', { name: 'In the console' })
  // This service sends no mail.
  await expect(choices.getByRole('group', { name: 'By mail' }).getByLabel('A backup failed')).toBeDisabled()
  await boxes.getByLabel('A backup failed').uncheck()
  await choices.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Your choice is saved')).toBeVisible()
  await page.reload()
  await expect(boxes.getByLabel('A backup failed')).not.toBeChecked()
  await expect(boxes.getByLabel('A webhook was disabled')).toBeChecked()
  await expectAccessibleEverywhere(page, 'account')
  expect(complaints).toEqual([])
})

test('an owner adds a webhook for a partner, and sees how it does and why a delivery waits', async ({ page }) => {
  const complaints = complaintsOf(page)
  receiver.answer = { status: 503 }
  await openPage(page, service, 'webhooks', 'Webhooks')
  await buttonNamed(page, 'Add webhook').click()
  const dialog = page.getByRole('dialog', { name: 'Add a webhook' })
  await dialog.getByLabel('Partner', { exact: true }).selectOption({ label: 'Demo bank' })
  await expect(dialog.getByLabel('On behalf of the credentials')).toBeEnabled()
  await dialog.getByLabel('On behalf of the credentials').selectOption({ index: 1 })
  // Those of one partner are not kept for another.
  await dialog.getByLabel('Partner', { exact: true }).selectOption({ label: 'Savings bank' })
  await dialog.getByLabel('Partner', { exact: true }).selectOption({ label: 'Demo bank' })
  await expect(dialog.getByLabel('On behalf of the credentials')).toBeEnabled()
  await expect(dialog.getByLabel('On behalf of the credentials')).toHaveValue('')
  await dialog.getByLabel('On behalf of the credentials').selectOption({ index: 1 })
  await dialog.getByLabel('Address of the receiver').fill(receiver.url)
  await dialog.getByLabel('A balance changed').check()
  await expectAccessibleEverywhere(page, 'add-webhook')
  await dialog.getByRole('button', { name: 'Add webhook' }).click()
  const secret = page.getByRole('dialog', { name: 'The secret of the webhook' })
  await expect(secret.getByText(/^whsec_/)).toBeVisible()
  await secret.getByLabel('I have saved it').check()
  await secret.getByRole('button', { name: 'Close' }).click()

  const members = await page.request.get(`${service.url}${ADMIN_API}/communities/demo/members?status=active&limit=1`)
  const [member] = (await members.json()).data
  await post(page, '/adjustments', { member_id: member.id, hours: 1, reason: 'A gift' })
  await page.getByRole('table', { name: 'Webhook subscriptions' }).getByRole('link').first().click()
  const deliveries = page.getByRole('table', { name: 'Deliveries' })
  await expect(deliveries).toContainText('The last attempt failed')
  await page.reload()
  await expect(page.getByRole('region', { name: 'Success and speed' })).toContainText('Success rate')
  await expect(page.getByText('Show as a table').first()).toBeVisible()
  await expectAccessibleEverywhere(page, 'webhook')

  receiver.answer = { status: 204 }
  await page.getByRole('button', { name: 'Send what failed …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
  await expect(page.getByText(/(One delivery is|deliveries are) sent again/)).toBeVisible()
  await expect(deliveries).toContainText('Arrived (answer 204)')
  expect(complaints).toEqual([])
})

test('calls have a chart, and credentials a last day', async ({ page }) => {
  const complaints = complaintsOf(page)
  // Here a day ends on the next day of UTC.
  await callDemo(page, service, '', { time_zone: 'America/New_York' }, 'PATCH')
  await openPage(page, service, 'calls', 'Calls')
  await page.getByText('Chart', { exact: true }).click()
  await page.getByLabel('When').selectOption('yesterday')
  await expect(page).toHaveURL(/period=yesterday/)
  await expect(page.getByText('No data for this period')).toBeVisible()
  const chart = page.getByRole('img', { name: /^Calls, by how they were answered/ })
  await expect(chart).toBeHidden()
  const caller = await makePartner(page, service, 'Bank that calls')
  expect(await askToken(page, service, caller)).toBe(200)
  await waitForCalls(page, service, `partner_id=${caller.partnerId}`)
  await openPage(page, service, 'calls?view=chart', 'Calls')
  await expect(chart).toBeVisible()
  await expectAccessibleEverywhere(page, 'calls-chart')

  await openPage(page, service, 'partners', 'Partners')
  await page.getByRole('link', { name: 'Demo bank' }).press('Enter')
  await page
    .getByRole('button', { name: /^Expiry of/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Last day').fill('2020-01-01')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByText('Choose today or a later day.')).toBeVisible()
  const soon = new Date(Date.now() + 5 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10)
  await dialog.getByLabel('Last day').fill(soon)
  await expectAccessibleEverywhere(page, 'expiry')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('table', { name: 'Credentials' })).toContainText('Soon')
  // The day that was chosen, not the one that begins when it ends.
  await expect(page.getByText(new RegExp(`^until ${Number(soon.slice(-2))} `))).toBeVisible()
  await expectAccessibleEverywhere(page, 'partner')
  // Names are shown as they were typed.
  await callDemo(
    page,
    service,
    `/partners/${new URL(page.url()).pathname.split('/').at(-1)}`,
    { name: 'eBank' },
    'PATCH',
  )
  await openPage(page, service, 'audit?action=client.', 'Audit')
  const lastDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(soon))
  await expect(page.getByRole('table')).toContainText(`expire on ${lastDay}`)
  await openPage(page, service, 'overview', 'Overview')
  await expect(page.getByText('credential expires soon, or has just expired')).toBeVisible()
  const attention = page.getByRole('region', { name: 'Needs attention' })
  await expect(attention.getByRole('link', { name: 'eBank', exact: true })).toBeVisible()
  expect(complaints).toEqual([])
})
