import { expect, test, type Page } from '@playwright/test'
import { codeOfStep, currentStep } from '../src/features/second-factor/totp.ts'
import { complaintsOf, dialogHasFocus, expectAccessible, PASSWORD, printedAdmin, signIn } from './admin.ts'
import { withService } from './with-service.ts'

const service = withService()

async function openAccount(page: Page): Promise<void> {
  await page.goto(`${service.url}/console/account`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Account')
}

async function enterPassword(page: Page): Promise<void> {
  await page.goto(`${service.url}/console/sign-in`)
  await page.getByLabel('Email').fill(printedAdmin(service).email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Second step')
}

test('an administrator sets up an authenticator app, signs in with it and removes it', async ({ page, browser }) => {
  const complaints = complaintsOf(page)
  await signIn(page, service)
  await openAccount(page)
  await page.getByRole('button', { name: 'Set up' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set up an authenticator app' })
  await expect(dialog.getByRole('img', { name: 'QR code of the key' })).toBeVisible()
  await dialogHasFocus(page)
  await expectAccessible(page)
  const secret = (await dialog.locator('pre').innerText()).replaceAll(/\s/g, '')
  await dialog.getByLabel('Code from the authenticator app').fill('000000')
  await dialog.getByRole('button', { name: 'Turn on' }).click()
  await expect(dialog.getByText('This is not the code that the app shows now.')).toBeVisible()
  await dialog.getByLabel('Code from the authenticator app').fill(codeOfStep(secret, currentStep()))
  await dialog.getByRole('button', { name: 'Turn on' }).click()

  const shown = page.getByRole('dialog', { name: 'Recovery codes' })
  const codes = (await shown.locator('pre').innerText()).trim().split('\n')
  expect(codes).toHaveLength(10)
  await expectAccessible(page)
  await shown.getByLabel('I have saved it').check()
  await shown.getByRole('button', { name: 'Close' }).click()
  await expect(page.getByText('10 left')).toBeVisible()
  expect(complaints).toEqual([])

  const phone = await (await browser.newContext()).newPage()
  await enterPassword(phone)
  const field = phone.getByLabel('Code from the authenticator app')
  await expect(field).toBeFocused()
  await expect(field).toHaveAttribute('autocomplete', 'one-time-code')
  await expectAccessible(phone)
  await phone.getByRole('button', { name: 'Use a recovery code' }).click()
  await phone.getByLabel('Recovery code').fill(codes[0]!)
  await phone.getByRole('button', { name: 'Continue' }).click()
  await expect(phone.getByRole('heading', { level: 1 })).not.toHaveText('Second step')
  await openAccount(phone)
  await expect(phone.getByText('9 left')).toBeVisible()
  await phone.context().close()

  // As the service answers when the last proof is too old.
  const tooOld = { error: 'proof_required', error_description: 'Confirm that it is you.', request_id: 'none' }
  await page.route('**/second-factor/app', (route) => route.fulfill({ status: 403, json: tooOld }), { times: 1 })
  await page.getByRole('button', { name: 'Remove …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  const proof = page.getByRole('dialog', { name: 'Is it still you?' })
  await expect(proof.getByLabel('Code from the authenticator app')).toBeFocused()
  await expectAccessible(page)
  await proof.getByRole('button', { name: 'Use the password' }).click()
  await proof.getByLabel('Password', { exact: true }).fill('not the password')
  await proof.getByRole('button', { name: 'Continue' }).click()
  await expect(proof.getByText('This is not your password.')).toBeVisible()
  await proof.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await proof.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('Authenticator app removed')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Set up' })).toBeVisible()
})
