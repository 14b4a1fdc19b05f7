import { expect, test, type Page } from '@playwright/test'
import { join } from 'node:path'
import { isFullVolume } from '../test/volume.ts'
import { ADMIN_API, complaintsOf, expectAccessible, openPage, signIn } from './admin.ts'
import { withService } from './with-service.ts'

const PHONE = { width: 360, height: 740 }
const LAPTOP = { width: 1440, height: 900 }
/** `npm test` checks the narrowest. */
const SIZES = isFullVolume ? [PHONE, { width: 768, height: 1024 }, LAPTOP] : [PHONE]
/** A member takes a line and a half on a phone. */
const ROW_PIXELS_MAX = 80

const service = withService()

/** Checks what is open at these widths; `OFFICE_PICTURES` names a folder for pictures of it. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.OFFICE_PICTURES
  for (const size of SIZES) {
    await page.setViewportSize(size)
    await expectAccessible(page)
    if (!folder) continue
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.screenshot({ path: join(folder, `${name}-${size.width}-${colorScheme}.png`), animations: 'disabled' })
    }
  }
}

test('members, member page, exchanges and slips are accessible, also on a phone', async ({ page }) => {
  const complaints = complaintsOf(page)
  await signIn(page, service)
  const post = async (path: string, data: object) => {
    const options = { headers: { origin: service.url }, data }
    return (await page.request.post(`${service.url}${ADMIN_API}/communities/demo${path}`, options)).json()
  }
  const { data: ada } = await post('/members', {
    name: 'Ada Lang',
    phone: '+43 1 234 56, 0664 123 45 67',
    address: 'Ringstraße 1\n1010 Wien',
    notes: 'Calls on Mondays.\nReads no mail.',
  })
  const { data: long } = await post('/members', { name: `Donau${'dampfschiff'.repeat(16)}` })
  await post('/tags', { member_ids: [ada.id, long.id], add: ['driver', 'board'] })
  await post('/listings', { member_id: ada.id, type: 'service', title: 'Bread', category: 'Kitchen', hours: 1 })
  const slips = [{ giver_id: ada.id, receiver_id: long.id, hours: 1.5, occurred_on: '2026-01-05', note: 'Bread' }]
  await post('/exchanges', { slips })

  await openPage(page, service, 'members', 'Members')
  await expect(page.getByRole('row').nth(2)).toContainText('Ada Lang')
  await page.getByRole('checkbox', { name: 'Select Ada Lang' }).check()
  await look(page, 'members')
  await page.setViewportSize(PHONE)
  const row = page
    .getByRole('row')
    .filter({ hasNotText: /driver|Name/ })
    .first()
  await expect.poll(async () => (await row.boundingBox())?.height).toBeLessThanOrEqual(ROW_PIXELS_MAX)
  await page.setViewportSize(LAPTOP)
  await page.getByRole('button', { name: 'Tag', exact: true }).click()
  await look(page, 'tag-dialog')

  await openPage(page, service, `members/${ada.id}`, 'Ada Lang')
  await expect(page.getByRole('table', { name: 'Statement' }).getByRole('row').nth(1)).toBeVisible()
  await look(page, 'member')
  await page.getByRole('button', { name: 'Adjust the balance' }).click()
  await expect(page.getByRole('dialog').getByLabel('Reason')).toBeVisible()
  await look(page, 'adjust-dialog')

  await openPage(page, service, 'exchanges', 'Exchanges')
  await expect(page.getByRole('row').nth(1)).toBeVisible()
  await look(page, 'exchanges')
  await openPage(page, service, `exchanges/record?member=${ada.id}`, 'Record exchanges')
  const slip = page.getByRole('group', { name: 'Slip 1', exact: true })
  await slip.getByLabel('Received it').fill(long.name.slice(0, 20))
  await page.getByRole('option', { name: new RegExp(long.name.slice(0, 20)) }).click()
  await slip.getByLabel('Hours').fill('99')
  await page.getByRole('button', { name: 'Record the exchange' }).click()
  await expect(page.getByLabel('Why it is allowed')).toBeVisible()
  await look(page, 'slips')
  expect(complaints).toEqual([])
})
