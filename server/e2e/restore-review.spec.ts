import { expect, test } from '@playwright/test'
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ADMIN_API, complaintsOf, expectAccessible, openPage, PASSWORD, printedAdmin, signIn } from './admin.ts'
import { COMMAND, startService, type Service } from './service.ts'

const SECRET_KEY = 'a-secret-key-that-only-tests-use-0123'

let folder: string
let running: Service | undefined

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hourbank-review-'))
  await chmod(folder, 0o711)
})

test.afterAll(async () => {
  await running?.stop()
  await rm(folder, { recursive: true, force: true })
})

const settingsFor = (name: string) => ({ DATA_DIR: join(folder, name), SECRET_KEY })

async function hourbank(dataFolder: string, ...args: string[]): Promise<void> {
  const { PATH, HOME, TMPDIR } = process.env
  const env = { PATH, HOME, TMPDIR, ...settingsFor(dataFolder) }
  await promisify(execFile)(process.execPath, [COMMAND, ...args], { env })
}

test('after a restore, the overview lists who has access until an owner switches the partner API on', async ({
  page,
}) => {
  const before = (running = await startService(settingsFor('before')))
  await signIn(page, before)
  const { email } = printedAdmin(before)
  await openPage(page, before, 'overview')
  await expect(page.getByText('Review access first')).toBeHidden()
  const backup = join(folder, 'town.backup')
  await hourbank('before', 'backup', backup)
  await before.stop()
  await hourbank('after', 'restore', backup)

  const after = (running = await startService(settingsFor('after')))
  const complaints = complaintsOf(page)
  const answer = await page.request.post(`${after.url}${ADMIN_API}/session`, {
    headers: { origin: after.url },
    data: { email, password: PASSWORD },
  })
  expect(answer.status()).toBe(200)
  await openPage(page, after, 'overview')
  const review = page.getByRole('region', { name: 'Review access first' })
  await expect(review).toContainText('restored from a backup')
  await expect(review.getByRole('list', { name: 'Administrators to review' })).toContainText('Demo owner (owner)')
  const partners = review.getByRole('list', { name: 'Partners to review' })
  await expect(partners).toContainText('Demo bank: 1 client')
  await expectAccessible(page)
  await partners.getByRole('link', { name: 'Demo bank' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Demo bank')
  await page.goBack()

  await review.getByRole('link', { name: 'To the switch' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Partners')
  await page.getByRole('button', { name: 'Switch on …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).click()
  await expect(page.getByRole('button', { name: 'Switch off …' })).toBeVisible()
  await openPage(page, after, 'overview')
  await expect(review).toBeHidden()
  expect(complaints).toEqual([])
})
