import { expect, test, type Page } from '@playwright/test'
import { callDemo, holdAnswers, openPage } from './admin.ts'
import { makePartner } from './partner-access.ts'
import { slip } from './slip.ts'
import { withSignedInService } from './with-service.ts'

const PHONE = { width: 360, height: 740 }
/** A window of 1280 × 1024 at 400 %. */
const MAGNIFIED = { width: 320, height: 256 }
/** A4 without margins of 2.5 cm. */
const PAPER = { width: 605, height: 933 }

const service = withSignedInService()

const call = <T>(page: Page, path: string, data?: object) => callDemo<T>(page, service, path, data)

const addMember = (page: Page, name: string) => call<{ id: number; name: string }>(page, '/members', { name })

const heading = (page: Page) => page.getByRole('heading', { level: 1 })

test('a save that fails puts the focus on the wrong field, and one that works leaves it on the button', async ({
  page,
}) => {
  const { partnerId } = await makePartner(page, service, 'Kept focus')
  await openPage(page, service, `partners/${partnerId}`, 'Kept focus')
  const save = page.getByRole('button', { name: 'Save', exact: true })
  const release = await holdAnswers(page, new RegExp(`/partners/${partnerId}$`), 'PATCH')
  await page.getByLabel('Calls per minute').fill('many')
  await save.press('Enter')
  await expect(page.getByLabel('Calls per minute')).toBeFocused()
  await page.getByLabel('Calls per minute').fill('60')
  await save.press('Enter')
  await expect(save).toBeDisabled()
  await expect.poll(() => page.evaluate('document.activeElement === document.body')).toBe(true)
  release()
  await expect(save).toBeFocused()
})

test('the focus of a button that goes with its action moves to the drawer, or to the heading', async ({ page }) => {
  const [transfer] = await call<{ id: number }[]>(page, '/transfers?kind=exchange&status=standing&limit=1')
  await openPage(page, service, `exchanges?transfer=${transfer!.id}`, 'Exchanges')
  await page.getByRole('button', { name: 'Reverse it …' }).press('Enter')
  const question = page.getByRole('dialog', { name: 'Reverse this?' })
  await question.getByLabel('Reason').fill('Entered twice')
  await question.getByRole('button', { name: 'Reverse', exact: true }).press('Enter')
  await expect(page.getByRole('heading', { name: 'Reversed' })).toBeVisible()
  await expect(page.getByRole('dialog')).toBeFocused()

  const { partnerId } = await makePartner(page, service, 'Soon suspended')
  await openPage(page, service, `partners/${partnerId}`, 'Soon suspended')
  await page.getByRole('button', { name: 'Suspend …' }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).press('Enter')
  await expect(page.getByRole('button', { name: 'Resume …' })).toBeVisible()
  await expect(heading(page)).toBeFocused()
})

test('the first newly loaded row gets the focus, and clearing the selection leaves it in the table', async ({
  page,
}) => {
  await openPage(page, service, 'members', 'Members')
  const names = page.getByRole('table', { name: 'Members' }).getByRole('row').getByRole('link')
  const more = page.getByRole('button', { name: 'Load more' })
  await expect(more).toBeVisible()
  let before = 0
  while (await more.isVisible()) {
    before = await names.count()
    await more.press('Enter')
    await expect.poll(() => names.count()).toBeGreaterThan(before)
    await expect(more.or(names.nth(before)).and(page.locator(':focus'))).toHaveCount(1)
  }
  await expect(names.nth(before)).toBeFocused()

  const all = page.getByRole('checkbox', { name: 'Select all rows' })
  await all.press('Space')
  await page.getByRole('button', { name: 'Select none' }).press('Enter')
  await expect(all).not.toBeChecked()
  await expect(all).toBeFocused()
})

test('the heading of a member has the focus once the member is there', async ({ page }) => {
  const { id, name } = await addMember(page, 'Hedda Heading')
  await openPage(page, service, 'members?q=Hedda', 'Members')
  const release = await holdAnswers(page, new RegExp(`/members/${id}$`))
  await page.getByRole('link', { name }).press('Enter')
  await expect(heading(page)).toHaveText('Member')
  await expect(heading(page)).toBeFocused()
  release()
  await expect(heading(page)).toHaveText(name)
  await expect(heading(page)).toBeFocused()
})

test('the member field says which member Enter takes', async ({ page }) => {
  for (const name of ['Comba Boxer', 'Combo Boxer']) await addMember(page, name)
  await openPage(page, service, 'exchanges/record', 'Record exchanges')
  const field = slip(page, 1).getByRole('combobox', { name: 'Gave time' })
  const options = page.getByRole('listbox', { name: 'Gave time' }).getByRole('option')
  const expectActive = async (index: number) => {
    await expect(options.nth(index)).toHaveAttribute('aria-selected', 'true')
    await expect(field).toHaveAttribute('aria-activedescendant', (await options.nth(index).getAttribute('id'))!)
  }
  await expect(field).toHaveAttribute('aria-expanded', 'false')
  await field.fill('comb')
  await expect(field).toHaveAttribute('aria-expanded', 'true')
  await expectActive(0)
  await field.press('ArrowDown')
  await expectActive(1)
  // Other results begin with their first one again.
  await field.fill('boxer')
  await expectActive(0)
  const name = await options.first().innerText()
  await field.press('Enter')
  await expect(field).toHaveValue(name)
  await expect(field).toHaveAttribute('aria-expanded', 'false')
})

test('the search says how much it found and what Enter opens, also in a magnified window', async ({ page }) => {
  await page.setViewportSize(MAGNIFIED)
  await openPage(page, service, 'overview', 'Overview')
  await page.keyboard.press('Control+K')
  const search = page.getByRole('combobox', { name: 'Search pages, actions, members and partners' })
  const status = page.getByRole('dialog').getByRole('status')
  await search.fill('zzz')
  await expect(status).toHaveText('Nothing found')
  await search.fill('listin')
  await expect(status).toHaveText('1 result')
  const option = page.getByRole('option', { name: 'Listings', selected: true })
  await expect(option).toBeInViewport({ ratio: 1 })
  await expect(search).toHaveAttribute('aria-activedescendant', (await option.getAttribute('id'))!)
  // What arrives later is announced too.
  const { name } = await addMember(page, 'Wanda Waited-for')
  await search.fill(name)
  await expect(page.getByRole('option', { name, selected: true })).toBeInViewport({ ratio: 1 })
})

test('on a phone, Escape closes the navigation, and Tab stops at nothing that is not seen', async ({ page }) => {
  await page.setViewportSize(PHONE)
  await openPage(page, service, 'members', 'Members')
  const burger = page.getByRole('button', { name: 'Open the navigation' })
  await burger.press('Enter')
  await page.keyboard.press('Escape')
  await expect(burger).toBeFocused()
  await burger.press('Enter')
  await page.getByRole('navigation').getByRole('link', { name: 'Listings' }).focus()
  await page.keyboard.press('Escape')
  await expect(burger).toBeFocused()
  await expect(page.getByRole('navigation')).toBeHidden()

  await expect(page.getByRole('table', { name: 'Members' })).toBeVisible()
  const hidden = page.locator('thead').locator('button, input')
  expect(await hidden.count()).toBeGreaterThan(0)
  for (const control of await hidden.all()) await expect(control).toBeHidden()
  for (const name of ['Selection', 'Name'])
    await expect(page.getByRole('columnheader', { name, exact: true })).toHaveCount(1)
})

test('where colours are forced, the system draws what is ticked', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await openPage(page, service, 'members', 'Members')
  const box = page.getByRole('checkbox').first()
  await box.check()
  await expect(box).toHaveCSS('appearance', 'auto')
  await expect(box.locator('xpath=following-sibling::*')).toHaveCSS('display', 'none')
})

test('a statement is printed with all of its columns', async ({ page }) => {
  await page.setViewportSize(PAPER)
  const [transfer] = await call<{ to: { id: number } }[]>(page, '/transfers?kind=exchange&limit=1')
  await openPage(page, service, `members/${transfer!.to.id}`)
  await page.emulateMedia({ media: 'print' })
  const table = page.getByRole('table', { name: 'Statement' })
  await expect(table.getByRole('columnheader', { name: 'Balance' })).toBeInViewport({ ratio: 0 })
  await table.getByRole('columnheader', { name: 'Balance' }).scrollIntoViewIfNeeded()
  for (const cell of await table.getByRole('row').nth(1).getByRole('cell').all())
    await expect(cell).toBeInViewport({ ratio: 1 })
})
