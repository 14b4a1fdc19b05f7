import { expect, test } from '@playwright/test'
import { callDemo, complaintsOf, expectAccessible, openPage, signIn } from './admin.ts'
import { withService } from './with-service.ts'

const service = withService()

test('the preview shows the new rows that look like a member who is here, and imports them all the same', async ({
  page,
}) => {
  const complaints = complaintsOf(page)
  await signIn(page, service)
  await callDemo(page, service, '/members', { name: 'Zora Zuvor', external_id: '00017' })
  await openPage(page, service, 'members/import', 'Import members')
  const rows = [
    'sep=;',
    'external_id;name;status',
    '17;Zora Zuvor',
    'Z-2;Zita Zweite;inaktiv',
    'Z-3;ZORA ZUVOR;',
    '  ;;',
  ]
  const buffer = Buffer.from(`${rows.join('\r\n')}\r\n`)
  await page.setInputFiles('input[type=file]', { name: 'members.csv', mimeType: 'text/csv', buffer })
  await page.getByRole('button', { name: 'Check the file' }).click()
  await expect(page.getByRole('alert')).toContainText('2 new rows may be members who are here already')
  const table = page.getByRole('table', { name: 'What happens to each row' })
  await expect(table.getByRole('row')).toHaveCount(3)
  await expect(table).toContainText(
    'Will be added. Zora Zuvor is there with the external id 00017, which differs only by zeros at its start.',
  )
  await expect(table).toContainText('Will be added. A member has this name already, with the external id 00017.')
  await expectAccessible(page)
  await page.getByLabel('Show').selectOption({ label: 'All rows (3)' })
  await expect(table.getByRole('row')).toHaveCount(4)
  await page.getByRole('button', { name: 'Import 3 rows' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'imported' })).toContainText('3 added')
  expect(complaints).toEqual([])
})
