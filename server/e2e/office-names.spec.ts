import { expect, test, type Page } from '@playwright/test'
import { callDemo, openPage, signIn } from './admin.ts'
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

const addMember = (page: Page, name: string, more: object = {}) =>
  callDemo<{ id: number; name: string }>(page, service, '/members', { name, ...more })

const namedBerta = (page: Page) => callDemo<object[]>(page, service, '/members?name=berta%20zweimal')

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
  expect(await namedBerta(page)).toHaveLength(1)
  await dialog.getByRole('button', { name: 'Add all the same' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('berta zweimal')
  expect(await namedBerta(page)).toHaveLength(2)
})

test('an unknown member offers the way back, and a directional mark does not swap giver and receiver', async ({
  page,
}) => {
  await openPage(page, service, 'members/99999999', 'Member')
  await page.getByRole('link', { name: 'All members' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Members')

  const [turned, plain] = [await addMember(page, TURNED), await addMember(page, 'Petra Plain')]
  const slips = [{ giver_id: turned.id, receiver_id: plain.id, hours: 1, occurred_on: '2026-01-05' }]
  await callDemo(page, service, '/exchanges', { slips })
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
