import { expect, test, type Locator, type Page } from '@playwright/test'
import { callDemo, openPage } from './admin.ts'
import { makePartner } from './partner-access.ts'
import { withSignedInService } from './with-service.ts'

/** A mark that turns round what follows it, unless the name is isolated. */
const TURNED = '\u202EAnna Turned'

const service = withSignedInService()

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
  await expect(dialog.getByText(/ · joined \d/)).toBeVisible()
  await expect(dialog.getByRole('link', { name: 'Berta Zweimal' })).toHaveAttribute(
    'href',
    new RegExp(`/members/${id}$`),
  )
  await expect(dialog.getByText('B-2')).toBeVisible()
  expect(await namedBerta(page)).toHaveLength(1)
  await dialog.getByRole('button', { name: 'Add anyway' }).click()
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

/** Where a word of a text is drawn. */
function placeOf(element: Locator, word: string): Promise<{ left: number; top: number }> {
  return element.evaluate((node, wanted) => {
    const texts = node.ownerDocument.createTreeWalker(node, 4)
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const start = text.textContent?.indexOf(wanted) ?? -1
      if (start < 0) continue
      const range = node.ownerDocument.createRange()
      range.setStart(text, start)
      range.setEnd(text, start + wanted.length)
      const { left, top } = range.getBoundingClientRect()
      return { left, top }
    }
    throw new Error(`${wanted} is not there`)
  }, word)
}

/** On the same line, or on a later one. */
async function expectAfter(element: Locator, word: string, earlier: string): Promise<void> {
  const [place, before] = [await placeOf(element, word), await placeOf(element, earlier)]
  expect(place.top > before.top || place.left > before.left, `${word} comes after ${earlier}`).toBe(true)
}

test('a directional mark in a name does not turn round a question, a notice or the title', async ({ page }) => {
  // The first mark would end an isolation before the name does.
  const name = `\u2069${TURNED}`
  const { id } = await addMember(page, name)
  await openPage(page, service, `members/${id}`, name)
  await expect(page).toHaveTitle(`\u2068${TURNED}\u2069 · Hourbank`)

  await page.getByRole('button', { name: 'Hide from partners' }).click()
  const question = page.getByRole('dialog').getByRole('heading')
  await expect(question).toHaveText(`Hide \u2068${TURNED}\u2069 from partners?`)
  await expectAfter(question, 'from', 'Turned')

  await page.getByRole('dialog').getByRole('button', { name: 'Hide', exact: true }).click()
  const notice = page.getByRole('status').getByText('is hidden from partners')
  await expect(notice).toBeVisible()
  await expectAfter(notice, 'hidden', 'Turned')

  // The mark cannot be typed, and need not be.
  const { partnerId } = await makePartner(page, service, TURNED)
  await openPage(page, service, `partners/${partnerId}`, TURNED)
  await page.getByRole('button', { name: /^Revoke/ }).click()
  const revoke = page.getByRole('button', { name: 'Revoke for good' })
  await expect(revoke).toBeDisabled()
  await page.getByRole('dialog').getByRole('textbox').fill('Anna Turned')
  await expect(revoke).toBeEnabled()
})

test('a name is confirmed by its letters, whatever signs, accents and capitals are typed', async ({ page }) => {
  const bank = 'Caisse d’Épargne «Mairie» – 🏦'
  const { partnerId } = await makePartner(page, service, bank)
  await openPage(page, service, `partners/${partnerId}`, bank)
  await page.getByRole('button', { name: /^Revoke/ }).click()
  const dialog = page.getByRole('dialog')
  const revoke = dialog.getByRole('button', { name: 'Revoke for good' })
  await dialog.getByRole('textbox').fill("Caisse d'Epargne")
  await expect(revoke).toBeDisabled()
  await dialog.getByRole('textbox').fill("caisse d'epargne mairie")
  await expect(revoke).toBeEnabled()

  // A name without letters is typed as it is.
  const signs = await makePartner(page, service, '🏦🏦')
  await openPage(page, service, `partners/${signs.partnerId}`, '🏦🏦')
  await page.getByRole('button', { name: /^Revoke/ }).click()
  await dialog.getByRole('textbox').fill('🏦')
  await expect(revoke).toBeDisabled()
  await dialog.getByRole('textbox').fill('🏦🏦')
  await expect(revoke).toBeEnabled()

  // Phones begin with a capital.
  const { id } = await addMember(page, 'Carla Capital')
  await openPage(page, service, `members/${id}`, 'Carla Capital')
  await page.getByRole('button', { name: 'Erase this person' }).click()
  await dialog.getByRole('textbox').fill('Erase')
  await expect(dialog.getByRole('button', { name: 'Erase for good' })).toBeEnabled()
})
