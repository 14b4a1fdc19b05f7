import { expect, test, type Locator, type Page } from '@playwright/test'
import { readFile } from 'node:fs/promises'
import { ADMIN_API, complaintsOf, openPage, signIn } from './admin.ts'
import { startService, type Service } from './service.ts'

/** A mark that turns round what follows it, unless the name is isolated. */
const TURNED = '\u202EAnna Turned'

let service: Service

test.beforeAll(async () => {
  service = await startService()
})

test.afterAll(async () => {
  await service?.stop()
})

test.beforeEach(async ({ page }) => {
  await signIn(page, service)
})

const address = (path: string) => `${service.url}${ADMIN_API}/communities/demo${path}`

async function read<T = any>(page: Page, path: string): Promise<T> {
  return (await (await page.request.get(address(path))).json()).data
}

async function post<T = any>(page: Page, path: string, data: object): Promise<T> {
  const answer = await page.request.post(address(path), { headers: { origin: service.url }, data })
  expect(answer.ok(), `${path}: ${await answer.text()}`).toBe(true)
  return (await answer.json()).data
}

const addMember = (page: Page, name: string, more: object = {}) =>
  post<{ id: number; name: string }>(page, '/members', { name, ...more })

const slip = (page: Page, number: number): Locator => page.getByRole('group', { name: `Slip ${number}`, exact: true })

async function fillSlip(page: Page, row: Locator, giver: string, receiver: string, hours: string): Promise<void> {
  for (const [label, name] of [
    ['Gave time', giver],
    ['Received it', receiver],
  ] as const) {
    await row.getByLabel(label).fill(name)
    await page.getByRole('option', { name }).first().click()
  }
  await row.getByLabel('Hours').fill(hours)
}

test('three calls: found by half a name, the balance read, a new phone number noted', async ({ page }) => {
  const complaints = complaintsOf(page)
  for (const [name, hours] of [
    ['Quirina Anruferin', 3.5],
    ['Quentin Anrufer', -2],
    ['Quitta Mehrfach', 0.25],
  ] as const) {
    const { id } = await addMember(page, name)
    await post(page, '/adjustments', { member_id: id, hours, reason: 'Start' })
    await openPage(page, service, 'members', 'Members')
    await page.getByRole('textbox', { name: 'Search' }).fill(name.slice(0, 4).toLowerCase())
    await page.getByRole('link', { name }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(name)
    await expect(page.getByText(`${hours} h`).first()).toBeVisible()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Phone numbers').fill('+43 1 234 56, 0664 7')
    await dialog.getByLabel('Postal address').fill('Ringstraße 1\n1010 Wien')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByRole('link', { name: '+43 1 234 56' })).toHaveAttribute('href', 'tel:+43123456')
    expect(await read(page, `/members/${id}`)).toMatchObject({ address: 'Ringstraße 1\n1010 Wien' })
  }
  expect(complaints).toEqual([])
})

test('adding somebody of the same name shows the member who is there first', async ({ page }) => {
  const { id } = await addMember(page, 'Berta Zweimal', { external_id: 'B-2' })
  await openPage(page, service, 'members', 'Members')
  await page.getByRole('button', { name: 'Add member' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('berta zweimal')
  await dialog.getByRole('button', { name: 'Add member' }).click()
  await expect(dialog.getByText('Is this the same person?')).toBeVisible()
  await expect(dialog.getByRole('link', { name: 'Berta Zweimal' })).toHaveAttribute(
    'href',
    new RegExp(`/members/${id}$`),
  )
  await expect(dialog.getByText('B-2')).toBeVisible()
  expect(await read(page, '/members?name=berta%20zweimal')).toHaveLength(1)
  await dialog.getByRole('button', { name: 'Add all the same' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('berta zweimal')
  expect(await read(page, '/members?name=berta%20zweimal')).toHaveLength(2)
})

test('eight slips, one below the limit and one twice; one of them is corrected', async ({ page }) => {
  const complaints = complaintsOf(page)
  const [giver, receiver, poor] = [
    await addMember(page, 'Greta Geber'),
    await addMember(page, 'Nina Nehmer'),
    await addMember(page, 'Paul Pleite'),
  ]
  const listing = { member_id: giver.id, type: 'service', title: 'Hedge cutting', category: 'Garden', hours: 1.5 }
  await post(page, '/listings', listing)
  await post(page, '/adjustments', { member_id: receiver.id, hours: 20, reason: 'Start' })

  // From the page of the member who calls.
  await openPage(page, service, `members/${giver.id}`, giver.name)
  await page.getByRole('link', { name: 'Record an exchange' }).click()
  const first = slip(page, 1)
  await expect(first.getByLabel('Gave time')).toHaveValue(giver.name)
  await first.getByLabel('Received it').fill(receiver.name)
  await page.getByRole('option', { name: receiver.name }).click()
  // The hours come with the listing.
  await first.getByLabel('For').selectOption({ label: 'Hedge cutting' })
  await expect(first.getByLabel('Hours')).toHaveValue('1.5')
  await expect(first).toContainText('0 h → 1.5 h')
  await expect(first).toContainText('20 h → 18.5 h')
  for (let n = 2; n <= 6; n++) await fillSlip(page, slip(page, n), giver.name, receiver.name, `0.${n}`)
  await expect(slip(page, 2)).toContainText('1.5 h → 1.7 h')
  await slip(page, 2).getByLabel('For').selectOption({ label: 'Garden' })
  await fillSlip(page, slip(page, 7), giver.name, poor.name, '18,5')
  await expect(slip(page, 7)).toContainText('0 h → -18.5 h, below')
  await fillSlip(page, slip(page, 8), giver.name, receiver.name, '0.5')

  await page.getByRole('button', { name: 'Record 8 exchanges' }).click()
  await expect(slip(page, 7)).toContainText('Paul Pleite would fall to -18.5 h')
  await page.getByLabel('Why it is allowed').fill('Agreed on the phone')
  await page.getByRole('button', { name: 'Allow and record' }).click()
  await expect(slip(page, 8)).toContainText('This is the same exchange as slip 5.')
  await slip(page, 8).getByLabel('Hours').fill('0.75')
  await page.getByRole('button', { name: 'Record 8 exchanges' }).click()
  await expect(page.getByText('8 exchanges recorded')).toBeVisible()
  expect(await read(page, `/members/${poor.id}`)).toMatchObject({ balance_hours: -18.5 })
  const [allowed] = await read(page, `/transfers?member_id=${poor.id}`)
  expect(allowed).toMatchObject({ limit_reason: 'Agreed on the phone' })

  // Slip 7 belonged to somebody else.
  await openPage(page, service, `members/${poor.id}`, poor.name)
  const statement = page.getByRole('table', { name: 'Statement' })
  await expect(statement.getByRole('link', { name: giver.name })).toBeVisible()
  await statement.getByRole('row').nth(1).getByRole('link').first().click()
  const drawer = page.getByRole('dialog')
  await expect(drawer).toContainText('Agreed on the phone')
  await drawer.getByRole('link', { name: 'Correct it' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Correct an exchange')
  await expect(slip(page, 1).getByLabel('Hours')).toHaveValue('18.5')
  await slip(page, 1).getByLabel('Received it').fill(receiver.name)
  await page.getByRole('option', { name: receiver.name }).click()
  await slip(page, 1).getByLabel('Hours').fill('2')
  await page.getByRole('button', { name: 'Record the correction' }).click()
  await expect(page.getByText('Say why.')).toBeVisible()
  await page.getByLabel('Why it is corrected').fill('It was Nina, for two hours')
  await page.getByRole('button', { name: 'Record the correction' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Exchanges')
  await expect(page.getByRole('row').nth(1)).toContainText(`${giver.name} gave time to ${receiver.name}`)
  expect(await read(page, `/members/${poor.id}`)).toMatchObject({ balance_hours: 0 })
  expect(complaints).toEqual([])
})

test('inactive members are found, tagged, exported and printed; the address keeps the filters', async ({ page }) => {
  const complaints = complaintsOf(page)
  await openPage(page, service, 'members', 'Members')
  await page.getByLabel('Exchanges', { exact: true }).selectOption({ label: 'None for 3 months' })
  await page.getByRole('columnheader', { name: 'Last exchange' }).getByRole('button').click()
  await expect(page).toHaveURL(/inactive=3.*sort=last_active_on|sort=last_active_on.*inactive=3/)
  await page.reload()
  const table = page.getByRole('table', { name: 'Members' })
  await expect(table.getByRole('row').nth(3)).toBeVisible()
  const count = Number(/^\d+/.exec((await page.getByText(/^\d+ members$/).textContent())!)![0])
  expect(count).toBeGreaterThan(2)
  const boxes = table.getByRole('checkbox')
  await boxes.nth(1).check()
  await boxes.nth(2).check()
  const chosen = await read(page, `/members?sort=last_active_on&inactive_since=${monthsAgo(3)}&limit=2`)
  await page.getByRole('button', { name: 'Tag', exact: true }).click()
  await page.getByRole('dialog').getByLabel('Tag').fill('ask in spring')
  await page.getByRole('dialog').getByRole('button', { name: 'Add tag' }).click()
  await expect(table.getByText('ask in spring')).toHaveCount(2)

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export selected' }).click()
  const file = await readFile(await (await downloading).path(), 'utf8')
  expect(file.trim().split('\r\n')).toHaveLength(3)
  for (const { name } of chosen) expect(file).toContain(name)
  await page.getByRole('link', { name: 'Print statements' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('2 statements')
  for (const { name } of chosen)
    await expect(page.getByRole('heading', { name: `Statement for ${name}` })).toBeVisible()

  await openPage(page, service, 'members', 'Members')
  await page.getByLabel('Tag', { exact: true }).selectOption('ask in spring')
  await expect(page.getByText('2 members', { exact: true })).toBeVisible()
  expect(complaints).toEqual([])
})

test('an unknown member offers the way back, and a directional mark does not swap giver and receiver', async ({
  page,
}) => {
  await openPage(page, service, 'members/99999999', 'Member')
  await page.getByRole('link', { name: 'All members' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Members')

  const [turned, plain] = [await addMember(page, TURNED), await addMember(page, 'Petra Plain')]
  const slips = [{ giver_id: turned.id, receiver_id: plain.id, hours: 1, occurred_on: '2026-01-05' }]
  await post(page, '/exchanges', { slips })
  await openPage(page, service, `exchanges?member=${turned.id}`, 'Exchanges')
  const names = page.getByRole('row').nth(1).locator('bdi')
  await expect(names).toHaveText([TURNED, plain.name])
  const [giver, receiver] = [await names.nth(0).boundingBox(), await names.nth(1).boundingBox()]
  expect(giver!.y < receiver!.y || giver!.x < receiver!.x).toBe(true)

  // A long name keeps to its own column.
  await addMember(page, 'Name'.repeat(45), { phone: '+43 1 234 56 78' })
  await openPage(page, service, 'members', 'Members')
  const cells = page.getByRole('row').nth(1).getByRole('cell')
  await expect(cells.nth(3)).toHaveText('+43 1 234 56 78')
  expect((await cells.nth(3).boundingBox())!.width).toBeGreaterThan(100)
})

function monthsAgo(months: number): string {
  const now = new Date()
  const day = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, now.getUTCDate()))
  return day.toISOString().slice(0, 10)
}
