import { expect, test, type Page } from '@playwright/test'
import { complaintsOf, dialogHasFocus, expectAccessible, PASSWORD, printedAdmin, signIn } from './admin.ts'
import { startService, type Service } from './service.ts'

let service: Service

test.beforeAll(async () => {
  const started = await startService()
  // Browsers make passkeys for names, never for addresses.
  service = { ...started, url: started.url.replace('127.0.0.1', 'localhost') }
})

test.afterAll(async () => {
  await service?.stop()
})

/** Chromium's own authenticator in software, which answers every question with yes. */
async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

async function openAccount(page: Page): Promise<void> {
  await page.goto(`${service.url}/console/account`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Account')
}

test('an administrator adds a passkey, signs in with it, proves with it who is there, and removes it', async ({
  page,
}) => {
  const complaints = complaintsOf(page)
  await addAuthenticator(page)
  await signIn(page, service)
  await openAccount(page)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  const adding = page.getByRole('dialog', { name: 'Add a passkey' })
  await dialogHasFocus(page)
  await expectAccessible(page)
  await adding.getByLabel('Name').fill('Laptop')
  await adding.getByRole('button', { name: 'Continue' }).click()
  const codes = page.getByRole('dialog', { name: 'Recovery codes' })
  await codes.getByLabel('I have saved it').check()
  await codes.getByRole('button', { name: 'Close' }).click()
  const row = page.getByRole('table', { name: 'Your passkeys' }).getByRole('row', { name: /Laptop/ })
  await expect(row).toContainText('never')
  await expect(page.getByText('10 left')).toBeVisible()

  // The same device makes no second one.
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await adding.getByRole('button', { name: 'Continue' }).click()
  await expect(adding.getByText('You have added this passkey already.')).toBeVisible()
  await adding.getByRole('button', { name: 'Cancel' }).click()

  await row.getByRole('button', { name: 'Rename' }).click()
  const renaming = page.getByRole('dialog', { name: 'Rename the passkey' })
  await renaming.getByLabel('Name').fill('Office laptop')
  await renaming.getByRole('button', { name: 'Save' }).click()
  const renamed = page.getByRole('row', { name: /Office laptop/ })
  await expect(renamed).toBeVisible()
  await expectAccessible(page)

  await page.getByRole('table', { name: 'Your sessions' }).getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in')
  await page.getByLabel('Email').fill(printedAdmin(service).email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Second step')
  // Only what the person has is offered.
  await expect(page.getByRole('button', { name: 'Use a recovery code' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Use the authenticator app' })).toBeHidden()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await expect(page.getByRole('heading', { level: 1 })).not.toHaveText('Second step')
  await openAccount(page)
  await expect(renamed).not.toContainText('never')

  // As the service answers when the last proof is too old.
  const tooOld = { error: 'proof_required', error_description: 'Confirm that it is you.', request_id: 'none' }
  await page.route('**/second-factor/passkeys/*', (route) => route.fulfill({ status: 403, json: tooOld }), {
    times: 1,
  })
  await renamed.getByRole('button', { name: /^Remove/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  const proof = page.getByRole('dialog', { name: 'Is it still you?' })
  await expect(proof.getByRole('button', { name: 'Use the password' })).toBeVisible()
  await expectAccessible(page)
  const proven = page.waitForResponse((response) => response.url().endsWith('/session/proof'))
  await proof.getByRole('button', { name: 'Use a passkey' }).click()
  expect((await proven).status()).toBe(200)
  await expect(page.getByText('Passkey removed')).toBeVisible()
  await expect(renamed).toBeHidden()
  expect(complaints).toEqual([])
})
