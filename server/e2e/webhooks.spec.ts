import { expect, test, type Page } from '@playwright/test'
import { ADMIN_API, complaintsOf, dialogHasFocus, expectAccessible, openPage } from './admin.ts'
import type { Receiver } from './receiver.ts'
import type { Service } from './service.ts'
import { withReceiver } from './with-receiver.ts'

const PARTNER_API = '/api/partner/v1'
const ANSWER = 'closed for repair <img src=x onerror="document.title=1">'

let service: Service
let receiver: Receiver

withReceiver((started) => ({ service, receiver } = started))

/** Calls the partner API as the demo community's partner. */
async function partnerCall(page: Page, path: string, data?: object): Promise<any> {
  const printed = (name: string) => new RegExp(`${name}\\s+(\\S+)`).exec(service.output())![1]
  const credentials = { client_id: printed('client_id'), client_secret: printed('client_secret') }
  const token = await page.request.post(`${service.url}${PARTNER_API}/oauth/token`, {
    data: { grant_type: 'client_credentials', ...credentials },
  })
  const headers = { authorization: `Bearer ${(await token.json()).access_token}` }
  const address = `${service.url}${PARTNER_API}${path}`
  const answer = await (data ? page.request.post(address, { headers, data }) : page.request.get(address, { headers }))
  expect(answer.ok(), await answer.text()).toBe(true)
  return (await answer.json()).data
}

async function subscribe(page: Page): Promise<number> {
  return (await partnerCall(page, '/webhooks/subscriptions', { event_types: ['wallet.*'], target_url: receiver.url }))
    .id
}

let references = 0

async function credit(page: Page): Promise<void> {
  const [member] = await partnerCall(page, '/users?limit=1')
  await partnerCall(page, '/wallet/credit', { user_id: member.id, hours: 1, reference: `e2e-${++references}` })
}

test('a failing receiver shows every attempt, and failed deliveries are sent again once it recovers', async ({
  page,
}) => {
  const complaints = complaintsOf(page)
  receiver.answer = { status: 503, body: ANSWER }
  const id = await subscribe(page)
  await credit(page)

  await openPage(page, service, 'webhooks', 'Webhooks')
  const table = page.getByRole('table', { name: 'Webhook subscriptions' })
  await expect(table.getByRole('row').nth(1)).toContainText('localhost')
  await expectAccessible(page)
  await table.getByRole('link').first().press('Enter')
  await expect(page).toHaveURL(new RegExp(`/webhooks/${id}$`))
  await expect(page.getByText('Deliveries are failing')).toBeVisible()
  await expect(page.getByRole('table', { name: 'Deliveries' })).toContainText('The receiver refused it (answer 503)')
  await expectAccessible(page)

  await page.getByRole('link', { name: 'Hours credited by a partner' }).first().press('Enter')
  const drawer = page.getByRole('dialog')
  await expect(drawer.getByRole('list', { name: 'Attempts' }).getByRole('listitem').first()).toContainText('took')
  await drawer.getByText('What the receiver answered').first().click()
  // The receiver's response is shown as text and never becomes part of the page.
  await expect(drawer.getByText(ANSWER).first()).toBeVisible()
  expect(await page.title()).not.toBe('1')
  await expectAccessible(page)

  receiver.answer = { status: 204 }
  await drawer.getByRole('button', { name: 'Send again' }).click()
  await expect(drawer.getByText('Arrived (answer 204)')).toBeVisible()
  expect(receiver.received.at(-1)).toBe('wallet.credited')
  // The address opens the drawer again, and the back button returns to the list.
  await page.reload()
  await expect(page.getByRole('dialog').getByText('Arrived (answer 204)')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await expect(page.getByText('Deliveries are failing')).toBeHidden()
  expect(complaints).toEqual([])
})

test('an owner pauses, resumes, tests and sends again since a day, by keyboard alone', async ({ page }) => {
  receiver.answer = { status: 204 }
  const id = await subscribe(page)
  await openPage(page, service, `webhooks/${id}`, /^Webhook of/)
  const press = async (name: string | RegExp) => {
    await page.getByRole('button', { name, exact: true }).press('Enter')
  }
  const confirm = async (name: string) => {
    const dialog = page.getByRole('dialog')
    await dialogHasFocus(page)
    await dialog.getByRole('button', { name, exact: true }).press('Enter')
    await expect(dialog).toBeHidden()
  }

  await press('Send a test event')
  await expectAccessible(page)
  await confirm('Send')
  await expect(page.getByRole('table', { name: 'Deliveries' })).toContainText('Arrived (answer 204)')
  await press('Pause')
  await confirm('Pause')
  await expect(page.getByText('Paused by the community’s administrators')).toBeVisible()
  await credit(page)
  await press('Resume')
  await confirm('Resume')
  await expect(page.getByRole('link', { name: 'Hours credited by a partner' })).toBeVisible()
  await press('Send again since …')
  await expectAccessible(page)
  await confirm('Send again')
  await expect(page.getByText(/(One event is|events are) sent again/)).toBeVisible()
  const audit = await page.request.get(`${service.url}${ADMIN_API}/communities/demo/audit?action=subscription.`)
  const actions = (await audit.json()).data.map((entry: { action: string }) => entry.action)
  expect(actions.slice(0, 4)).toEqual([
    'subscription.replayed',
    'subscription.resumed',
    'subscription.paused',
    'subscription.tested',
  ])
})

test('deliveries to a suspended partner are held, and sent when the partner is resumed', async ({ page }) => {
  receiver.answer = { status: 204 }
  const id = await subscribe(page)
  const admin = (path: string) => `${service.url}${ADMIN_API}/communities/demo${path}`
  const headers = { origin: service.url }
  const { data: partners } = await (await page.request.get(admin('/partners'))).json()
  const partner = partners.find(({ name }: { name: string }) => name === 'Demo bank')
  const become = async (status: string) => {
    const answer = await page.request.patch(admin(`/partners/${partner.id}`), {
      headers: { ...headers, 'if-match': '*' },
      data: { status },
    })
    expect(answer.ok(), await answer.text()).toBe(true)
  }

  await become('suspended')
  const [member] = (await (await page.request.get(admin('/members?status=active&limit=1'))).json()).data
  const adjusted = await page.request.post(admin('/adjustments'), {
    headers,
    data: { member_id: member.id, hours: 1, reason: 'A gift' },
  })
  expect(adjusted.status()).toBe(201)
  await openPage(page, service, `webhooks/${id}`, /^Webhook of/)
  await expect(page.getByText('Deliveries are held back, and go out when the partner is resumed.')).toBeVisible()
  await expect(page.getByRole('table', { name: 'Deliveries' })).toContainText('The partner is suspended')
  await become('active')
  await expect(page.getByRole('table', { name: 'Deliveries' })).toContainText('Arrived (answer 204)')
})
