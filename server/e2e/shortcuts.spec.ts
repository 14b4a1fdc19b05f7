import { expect, test, type Page } from '@playwright/test'
import { ADMIN_API, complaintsOf, dialogHasFocus, expectAccessible, holdAnswers, openPage } from './admin.ts'
import { withSignedInService } from './with-service.ts'

const service = withSignedInService()

const PATIENT = { timeout: 10_000 }

/** Both keys have to be read within a second and a half, which a busy machine may miss. */
async function goToMembers(page: Page, expectWorking: () => Promise<void>): Promise<void> {
  await expect(async () => {
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await expectWorking()
  }).toPass()
}

test('Ctrl-K starts an exchange, adds a member, suspends a partner, and shows a balance', async ({ page }) => {
  const complaints = complaintsOf(page)
  await openPage(page, service, 'overview', 'Overview')
  const search = page.getByRole('combobox', { name: 'Search pages, actions, members and partners' })
  const openSearch = async () => {
    // A dialog that is still closing takes the keys.
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await page.keyboard.press('Control+K')
    await expect(search).toBeFocused()
  }
  const choose = async (typed: string, label: string | RegExp) => {
    await openSearch()
    await search.fill(typed)
    await page.getByRole('option', { name: label }).first().click()
  }
  await choose('record', 'Record an exchange')
  await expect(page).toHaveURL(/\/exchanges\/record$/)
  await choose('add a', 'Add a member')
  await expect(page.getByRole('dialog', { name: 'Add a member' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()

  const path = `${service.url}${ADMIN_API}/communities/demo/members?status=active&limit=1`
  const [member] = (await (await page.request.get(path)).json()).data
  await openSearch()
  await search.fill(member.name)
  const found = page.getByRole('option', { name: new RegExp(member.name) }).first()
  await expect(found).toContainText(/-?[\d.,]+\u00A0h/)
  await expectAccessible(page)
  await page.keyboard.press('Escape')

  await choose('suspend', 'Suspend a partner …')
  await search.fill('suspend demo')
  await page.getByRole('option', { name: 'Suspend Demo bank …' }).click()
  const question = page.getByRole('dialog', { name: 'Suspend Demo bank?' })
  await question.getByRole('button', { name: 'Suspend' }).click()
  await expect(page.getByText('Demo bank is suspended')).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText('Every call of this partner is refused.')).toBeHidden()
  const partners = await page.request.get(`${service.url}${ADMIN_API}/communities/demo/partners`)
  const bank = (await partners.json()).data.find(({ name }: { name: string }) => name === 'Demo bank')
  expect(bank.status).toBe('active')
  expect(complaints).toEqual([])
})

test('a page that arrives leaves the focus in a search opened meanwhile, and takes it when chosen there', async ({
  page,
}) => {
  await openPage(page, service, 'overview', 'Overview')
  const search = page.getByRole('combobox', { name: 'Search pages, actions, members and partners' })
  const heading = page.getByRole('heading', { level: 1 })
  await heading.focus()
  // The search's own scripts must not wait with those of the page.
  await page.keyboard.press('Control+K')
  await expect(search).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(heading).toBeFocused()
  await page.evaluate(`
    window.focusedHeadings = []
    document.addEventListener('focusin', ({ target }) => target.tagName === 'H1' && window.focusedHeadings.push(target.textContent))`)

  const release = await holdAnswers(page, /\.js$/)
  let asked = 0
  page.on('request', (request) => (asked += request.url().endsWith('.js') ? 1 : 0))
  await goToMembers(page, () => expect.poll(() => asked, PATIENT).toBeGreaterThan(0))
  await page.keyboard.press('Control+K')
  await expect(search).toBeFocused()
  release()
  await expect(page.locator('h1')).toHaveText('Members')
  await expect(page.locator('main table tbody tr').first()).toBeVisible()
  await expect(search).toBeFocused()
  expect(await page.evaluate('window.focusedHeadings')).toEqual([])
  // The heading that had the focus before the search is gone with its page.
  await page.keyboard.press('Escape')
  await expect(heading).toBeFocused()

  for (const [name, choose] of [
    ['Listings', () => page.keyboard.press('Enter')],
    ['Overview', () => page.getByRole('option', { name: 'Overview' }).click()],
  ] as const) {
    await page.keyboard.press('Control+K')
    await search.fill(name)
    await choose()
    await expect(heading).toHaveText(name)
    await expect(heading).toBeFocused()
  }
})

test('a dialog closes without fading, because shortcuts wait until it is gone', async ({ page }) => {
  await openPage(page, service, 'members', 'Members')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  await dialogHasFocus(page)
  const dialog = page.getByRole('dialog')
  await expect(dialog).toHaveCSS('opacity', '1')
  await page.evaluate(`
    window.faded = []
    document.addEventListener('transitionrun', ({ target }) => target.role === 'dialog' && window.faded.push(target.id))`)
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
  expect(await page.evaluate('window.faded')).toEqual([])
  await page.keyboard.press('Control+K')
  await expect(page.getByRole('dialog', { name: 'Search' })).toBeVisible()
})

test('? lists the shortcuts, g and a letter go to a page, and single keys can be switched off', async ({ page }) => {
  await openPage(page, service, 'overview', 'Overview')
  await page.keyboard.press('?')
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(dialog.getByText('Go to Members')).toBeVisible()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
  await goToMembers(page, () => expect(page.getByRole('heading', { level: 1 })).toHaveText('Members', PATIENT))
  // Not while somebody types.
  await page.getByRole('searchbox').or(page.getByLabel('Search')).last().fill('g?')
  await expect(dialog).toBeHidden()

  await page.getByRole('button', { name: /^Account:/ }).click()
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await dialog.getByLabel('Keys without Ctrl work').uncheck()
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('?')
  await expect(dialog).toBeHidden()
})
