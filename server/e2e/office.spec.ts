import { readFile } from 'node:fs/promises'
import { expect, test, type Page } from '@playwright/test'
import { ADMIN_API, complaintsOf, dialogHasFocus, expectAccessible, holdAnswers, openPage } from './admin.ts'
import { chooseMember, slip } from './slip.ts'
import { withSignedInService } from './with-service.ts'

const SLIPS = 10
const MARKUP = '<img src=x onerror="document.title=1">'

const service = withSignedInService()

const admin = (path: string) => `${service.url}${ADMIN_API}/communities/demo${path}`

async function read(page: Page, path: string): Promise<any[]> {
  return (await (await page.request.get(admin(path))).json()).data
}

let numbers = 0

/** A member with a unique number, so that typing it finds exactly one. */
async function addMember(page: Page): Promise<{ name: string; number: string }> {
  const number = `E2E-${++numbers}`
  const member = { name: `Person ${MARKUP} ${numbers}`, external_id: number }
  const answer = await page.request.post(admin('/members'), { headers: { origin: service.url }, data: member })
  expect(answer.status(), await answer.text()).toBe(201)
  return { name: member.name, number }
}

/** Returns the member's current state. */
async function memberOf(page: Page, { number }: { number: string }): Promise<{ id: number; balance_hours: number }> {
  const found = await read(page, `/members?q=${number}`)
  return found.find((member) => member.external_id === number)
}

test('ten slips at once with one of them twice: warned of, corrected, recorded; all by keyboard', async ({ page }) => {
  const complaints = complaintsOf(page)
  const [giver, receiver] = [await addMember(page), await addMember(page)]
  await openPage(page, service, 'exchanges', 'Exchanges')
  await page.getByRole('link', { name: 'Record exchanges' }).first().press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Record exchanges')
  await expectAccessible(page)

  // The slips differ by their hours, except for the last one.
  await slip(page, 1).getByLabel('Gave time').focus()
  for (let n = 1; n <= SLIPS; n++) {
    const row = slip(page, n)
    await expect(row.getByLabel('Gave time')).toBeFocused()
    await page.keyboard.type(giver.number)
    await page.keyboard.press('Tab')
    await expect(row.getByLabel('Gave time')).toHaveValue(`${giver.name} (${giver.number})`)
    await page.keyboard.type(receiver.number)
    await page.keyboard.press('Tab')
    await expect(row.getByLabel('Received it')).toHaveValue(`${receiver.name} (${receiver.number})`)
    await page.keyboard.type(n === SLIPS ? '0,25' : `0.${n}5`)
    await page.keyboard.press('Enter')
  }
  await page.keyboard.press('Control+Enter')
  await expect(page.getByText('Was a slip entered twice?')).toBeVisible()
  await expect(slip(page, SLIPS)).toContainText('This is the same exchange as slip 2.')
  await expectAccessible(page)
  expect(await read(page, '/transfers?kind=exchange&from=2999-01-01')).toEqual([])

  await slip(page, SLIPS).getByLabel('Hours').fill('0.5')
  await page.getByRole('button', { name: `Record ${SLIPS} exchanges` }).press('Enter')
  await expect(page.getByText(`${SLIPS} exchanges recorded`)).toBeVisible()
  await expect(slip(page, 1).getByLabel('Gave time')).toHaveValue('')

  const member = await memberOf(page, giver)
  expect(member.balance_hours).toBe(5.45)
  expect(await read(page, `/transfers?member_id=${member.id}`)).toHaveLength(SLIPS)
  expect((await read(page, '/audit?action=exchange.recorded')).length).toBe(SLIPS)
  expect(complaints).toEqual([])
})

test('an error in a slip is shown next to its field, and a lost response does not record it twice', async ({
  page,
}) => {
  const [giver, receiver] = [await addMember(page), await addMember(page)]
  await openPage(page, service, 'exchanges/record', 'Record exchanges')
  const row = slip(page, 2)
  await row.getByLabel('Gave time').fill(giver.number)
  await row.getByLabel('Received it').fill(receiver.number)
  await row.getByLabel('Hours').fill('9999')
  await row.getByLabel('Note').fill(MARKUP)
  const record = page.getByRole('button', { name: 'Record the exchange' })
  await record.click()
  await expect(row).toContainText('would fall to -9999 h')
  await expect(row.getByLabel('Hours')).toBeFocused()
  await expect(row.getByLabel('Note')).toHaveValue(MARKUP)

  await row.getByLabel('Hours').fill('2')
  // The service records it, but the response is lost.
  await page.route('**/exchanges', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await record.click()
  await expect(page.getByRole('alert')).toContainText('No connection')
  await expect(row.getByLabel('Hours')).toHaveValue('2')
  await page.unroute('**/exchanges')
  await record.click()
  await expect(page.getByText('One exchange recorded')).toBeVisible()
  const member = await memberOf(page, giver)
  expect(member.balance_hours).toBe(2)

  await openPage(page, service, `exchanges?member=${member.id}`, 'Exchanges')
  await expect(page.getByRole('table', { name: 'Transfers' })).toContainText(MARKUP)
  expect(await page.title()).not.toBe('1')
})

test('a slip that is recorded before its members are found waits for them, and the next one for the slip', async ({
  page,
}) => {
  const [giver, receiver] = [await addMember(page), await addMember(page)]
  await openPage(page, service, 'exchanges/record', 'Record exchanges')
  const row = slip(page, 1)
  await expect(row.getByLabel('Gave time')).toBeEnabled()
  const release = await holdAnswers(page, /\/members\?/)
  await row.getByLabel('Gave time').fill(giver.number)
  await row.getByLabel('Received it').fill(receiver.number)
  await row.getByLabel('Hours').fill('2')
  await row.getByLabel('Hours').press('Control+Enter')
  await expect(page.getByRole('button', { name: 'Record the exchange' })).toHaveAttribute('data-loading', 'true')
  const releaseSaved = await holdAnswers(page, /\/exchanges$/, 'POST')
  const sent = page.waitForRequest(/\/exchanges$/)
  release()
  await sent
  // What is typed now would be gone with the slip that is being recorded.
  await expect(slip(page, 2).getByLabel('Note')).not.toBeEditable()
  releaseSaved()
  await expect(page.getByText('One exchange recorded')).toBeVisible()
  await expect(row.getByLabel('Gave time')).toBeFocused()
  await slip(page, 2).getByLabel('Note').fill('in time')
  await expect(slip(page, 2).getByLabel('Note')).toHaveValue('in time')
  await chooseMember(row, 'Gave time', giver.number)
  await expect(row).toContainText(/2\sh/)
  expect((await memberOf(page, giver)).balance_hours).toBe(2)
})

test('only the duplicates that were shown are recorded anyway', async ({ page }) => {
  const [giver, receiver] = [await addMember(page), await addMember(page)]
  await openPage(page, service, 'exchanges/record', 'Record exchanges')
  const fill = async (number: number, hours: string) => {
    const row = slip(page, number)
    await row.getByLabel('Gave time').fill(giver.number)
    await row.getByLabel('Received it').fill(receiver.number)
    await row.getByLabel('Hours').fill(hours)
  }
  const record = () => slip(page, 1).getByLabel('Hours').press('Control+Enter')
  const anyway = page.getByRole('button', { name: 'Record anyway' })
  await fill(1, '1')
  await fill(2, '2')
  await record()
  await expect(page.getByText('2 exchanges recorded')).toBeVisible()

  await fill(1, '1')
  await record()
  await expect(slip(page, 1)).toHaveAttribute('data-duplicate')
  await fill(2, '2')
  await anyway.click()
  await expect(slip(page, 2)).toHaveAttribute('data-duplicate')
  await slip(page, 2).getByLabel('Hours').fill('')
  await anyway.click()
  await expect(slip(page, 2)).toContainText('Hours like 1.5.')
  await page.getByRole('button', { name: 'Remove slip 1' }).click()
  await fill(1, '2')
  await record()
  await expect(slip(page, 1)).toHaveAttribute('data-duplicate')
  expect((await memberOf(page, giver)).balance_hours).toBe(3)
  await anyway.click()
  await expect(page.getByText('One exchange recorded')).toBeVisible()
  expect((await memberOf(page, giver)).balance_hours).toBe(5)
})

test('a transfer is reversed with a reason, and both are one record', async ({ page }) => {
  const complaints = complaintsOf(page)
  const person = await addMember(page)
  await openPage(page, service, 'exchanges', 'Exchanges')
  await page.getByRole('button', { name: 'Adjust a balance' }).click()
  const dialog = page.getByRole('dialog', { name: 'Adjust a balance' })
  await dialog.getByRole('button', { name: 'Adjust', exact: true }).click()
  await expect(dialog).toContainText('Choose a member from the list.')
  await expect(dialog).toContainText('Say why.')
  await expectAccessible(page)
  await dialog.getByRole('combobox', { name: 'Member' }).fill(person.number)
  await page.getByRole('option', { name: person.number }).click()
  await dialog.getByLabel('Hours', { exact: true }).fill('3,5')
  await dialog.getByLabel('Reason').fill('A gift to begin with')
  await dialog.getByRole('button', { name: 'Adjust', exact: true }).click()
  await expect(dialog).toBeHidden()
  await expect(page.getByRole('button', { name: 'Adjust a balance' })).toBeFocused()

  await page.getByRole('link', { name: `Given to ${person.name}` }).press('Enter')
  const drawer = page.getByRole('dialog', { name: `Given to ${person.name}` })
  await expect(drawer).toContainText('A gift to begin with')
  await expectAccessible(page)
  const reverse = drawer.getByRole('button', { name: 'Reverse it …' })
  await reverse.click()
  const asking = page.getByRole('dialog', { name: 'Reverse this?' })
  await asking.getByRole('button', { name: 'Reverse', exact: true }).click()
  await expect(asking).toContainText('Say why.')
  await asking.getByLabel('Reason').fill('Given to the wrong person')
  await expectAccessible(page)
  // Escape closes one dialog at a time, and asks before it throws away what was typed.
  await page.keyboard.press('Escape')
  const discarding = page.getByRole('dialog', { name: 'Discard what you typed?' })
  await dialogHasFocus(page, discarding)
  await page.keyboard.press('Escape')
  await expect(discarding).toBeHidden()
  await expect(asking.getByLabel('Reason')).toBeFocused()
  await expect(asking.getByLabel('Reason')).toHaveValue('Given to the wrong person')
  await page.keyboard.press('Escape')
  await discarding.getByRole('button', { name: 'Discard' }).click()
  await expect(asking).toBeHidden()
  await expect(reverse).toBeFocused()
  await reverse.press('Enter')
  await asking.getByLabel('Reason').fill('Given to the wrong person')
  await asking.getByRole('button', { name: 'Reverse', exact: true }).click()
  await expect(asking).toBeHidden()
  await expect(drawer).toContainText('Given to the wrong person')
  await expect(reverse).toBeHidden()
  await page.keyboard.press('Escape')
  await expect(drawer).toBeHidden()

  const member = await memberOf(page, person)
  expect(member.balance_hours).toBe(0)
  await openPage(page, service, `exchanges?member=${member.id}`, 'Exchanges')
  const rows = page.getByRole('table', { name: 'Transfers' }).getByRole('row')
  await expect(rows).toHaveCount(2)
  await expect(rows.nth(1)).toContainText('Reversed')
  await expect(rows.nth(1)).toContainText('Given to the wrong person')
  await expect(page.getByRole('combobox', { name: 'Member' })).toHaveValue(person.name)
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('the audit log is in sentences, has its filters in the address, and can be downloaded', async ({ page }) => {
  const complaints = complaintsOf(page)
  const person = await addMember(page)
  await openPage(page, service, 'audit', 'Audit')
  const table = page.getByRole('table', { name: 'Audit log' })
  await expect(table.getByRole('row').nth(1)).toContainText(`added the member ${person.name}`)
  expect(await page.title()).not.toBe('1')
  await expectAccessible(page)
  await table.getByText('More').first().click()
  await expect(table.getByText('member.added').first()).toBeVisible()

  await page.getByLabel('What').selectOption('Administrators')
  await expect(page).toHaveURL(/action=admin\./)
  await expect(table.getByRole('row').nth(1)).not.toContainText('added the member')
  await page.reload()
  await expect(page.getByLabel('What')).toHaveValue('admin.')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  expect((await download).suggestedFilename()).toBe('demo-audit.csv')

  // The rows of an import that does not exist.
  await openPage(page, service, 'audit?batch=00000000-0000-4000-8000-000000000000', 'Audit')
  await expect(page.getByText('Only the rows of one import')).toBeVisible()
  const ofImport = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  expect((await readFile(await (await ofImport).path(), 'utf8')).trim().split('\n')).toHaveLength(1)
  expect(complaints).toEqual([])
})

test('settings, categories and what partners see', async ({ page }) => {
  const complaints = complaintsOf(page)
  await openPage(page, service, 'community', 'Settings')
  const limit = page.getByLabel('Lowest balance, in hours')
  await limit.fill('5')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('The lowest balance must be 0 or less')).toBeVisible()
  await expect(limit).toBeFocused()
  await expectAccessible(page)
  await limit.fill('-12,5')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Settings saved')).toBeVisible()
  await expect(limit).toHaveValue('-12.5')
  // A thousand to some people, and one to others.
  const largest = page.getByLabel('Largest credit, in hours')
  await largest.fill('1,000')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('A number like 1000.')).toBeVisible()
  await expect(largest).toBeFocused()

  await page.getByRole('tab', { name: 'Categories' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('button', { name: 'Add a category' }).click()
  // Otherwise the dialog could take the focus after the field was filled, and Enter with it.
  await dialogHasFocus(page)
  await page.getByRole('dialog').getByLabel('Name').fill(`Odd jobs ${MARKUP}`)
  await page.getByRole('dialog').getByLabel('Name').press('Enter')
  await expect(page.getByRole('dialog')).toBeHidden()
  const row = page.getByRole('row').filter({ hasText: `Odd jobs ${MARKUP}` })
  await row.getByRole('button', { name: /^Retire/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Retire' }).click()
  await expect(row).toContainText('Retired')
  await expectAccessible(page)

  await page.getByRole('tab', { name: 'What partners see' }).click()
  await expect(page.getByText(/Active members|Nothing is shown yet/).first()).toBeVisible()
  await expectAccessible(page)
  await page.goBack()
  expect(complaints).toEqual([])
})

test('what was typed is not replaced by another tab, by empty slips or by the page before, unless that is meant', async ({
  page,
}) => {
  const asking = page.getByRole('dialog', { name: 'Leave without saving?' })
  const stay = async () => {
    await expect(asking).toBeVisible()
    await asking.getByRole('button', { name: 'Stay here' }).click()
    await expect(asking).toBeHidden()
  }
  await openPage(page, service, 'community', 'Settings')
  const holder = page.getByLabel('Account holder')
  await holder.fill('Somebody else')
  await page.getByRole('tab', { name: 'Categories' }).click()
  await stay()
  await expect(holder).toHaveValue('Somebody else')
  await page.getByRole('tab', { name: 'Categories' }).click()
  await asking.getByRole('button', { name: 'Leave' }).click()
  await expect(page.getByRole('button', { name: 'Add a category' })).toBeVisible()

  const { id } = await memberOf(page, await addMember(page))
  await openPage(page, service, `exchanges/record?member=${id}`, 'Record exchanges')
  const note = slip(page, 1).getByLabel('Note')
  await note.fill('Bread')
  await page.keyboard.press('Control+K')
  await page.getByRole('combobox', { name: /^Search pages/ }).fill('record')
  await page.getByRole('option', { name: 'Record an exchange' }).click()
  await stay()
  await expect(note).toHaveValue('Bread')
  await note.fill('')

  // What lies over the page is in the address too.
  await openPage(page, service, 'exchanges?kind=exchange', 'Exchanges')
  await page.getByRole('row').nth(1).getByRole('link').first().click()
  await page.getByRole('button', { name: 'Reverse it …' }).click()
  const reason = page.getByRole('dialog', { name: 'Reverse this?' }).getByLabel('Reason')
  await reason.fill('Entered twice')
  await page.goBack()
  await stay()
  await expect(reason).toHaveValue('Entered twice')

  // A question over the page changes the address as well, and replaces nothing.
  const [partner] = await read(page, '/partners?q=Demo')
  await openPage(page, service, `partners/${partner.id}`, partner.name)
  await page.getByLabel('Contact').fill('Ada')
  await page.keyboard.press('Control+K')
  await page.getByRole('combobox', { name: /^Search pages/ }).fill('suspend demo')
  await page.getByRole('option', { name: `Suspend ${partner.name} …` }).click()
  await page
    .getByRole('dialog', { name: `Suspend ${partner.name}?` })
    .getByRole('button', { name: 'Cancel' })
    .click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByLabel('Contact')).toHaveValue('Ada')
})
