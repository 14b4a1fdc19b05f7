import { expect, test, type Page } from '@playwright/test'
import { generateKeyPairSync } from 'node:crypto'
import { Hourbank } from '../../client/src/index.ts'
import { complaintsOf, expectAccessible, openPage, signIn } from './admin.ts'
import { withService } from './with-service.ts'

const service = withService()

function newKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

const table = (page: Page) => page.getByRole('table', { name: 'Credentials' })

async function membersBy(clientId: string, privateKey: string): Promise<number> {
  const hourbank = new Hourbank({ baseUrl: service.url, clientId, privateKey, retries: 0 })
  return (await hourbank.users.list({ limit: 1 })).data.length
}

test('a partner gets access by a key, changes over to another and to an address of keys', async ({ page }) => {
  const complaints = complaintsOf(page)
  const [first, next] = [newKey(), newKey()]
  await signIn(page, service)
  await openPage(page, service, 'partners', 'Partners')
  await page.getByRole('button', { name: 'Add partner' }).click()
  const form = page.getByRole('dialog', { name: 'Add a partner' })
  await form.getByLabel('Name').fill('Signing Bank')
  await form.getByLabel('See members').check()
  await form.getByLabel('By a key').check()
  await form.getByLabel('Public key').fill(first.privatePem)
  await form.getByRole('button', { name: 'Add partner' }).click()
  await expect(form.getByText('This is a private key')).toBeVisible()
  await form.getByLabel('Public key').fill(first.publicPem)
  await form.getByRole('button', { name: 'Add partner' }).click()

  // No secret to save: on to the partner's page.
  await expect(page.getByRole('heading', { name: 'Signing Bank' })).toBeVisible()
  await expect(table(page)).toContainText('Ed25519 key')
  await expect(table(page)).toContainText('Registered')
  await expectAccessible(page)
  const clientId = /hbc_\d+_[0-9a-f]{16}/.exec(await table(page).innerText())![0]
  expect(await membersBy(clientId, first.privatePem)).toBe(1)

  await page.getByRole('button', { name: `Add a key to ${clientId}` }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a key?' })
  await dialog.getByLabel('Public key').fill(next.publicPem)
  await dialog.getByRole('button', { name: 'Add key' }).click()
  await expect(page.getByRole('button', { name: 'Remove the key' })).toHaveCount(2)
  await expect(page.getByRole('button', { name: `Add a key to ${clientId}` })).toBeHidden()
  expect(await membersBy(clientId, next.privatePem)).toBe(1)

  await page.getByRole('button', { name: 'Remove the key' }).first().click()
  await page.getByRole('button', { name: 'Remove it now' }).click()
  await expect(page.getByRole('button', { name: 'Remove the key' })).toHaveCount(1)
  await expect(membersBy(clientId, first.privatePem)).rejects.toMatchObject({ code: 'invalid_client' })
  expect(await membersBy(clientId, next.privatePem)).toBe(1)

  await page.getByRole('button', { name: 'Add credentials' }).click()
  const add = page.getByRole('dialog', { name: 'Add credentials' })
  await add.getByLabel('By keys at an address').check()
  await add.getByLabel('Address of the keys').fill('https://localhost/keys')
  await add.getByRole('button', { name: 'Add credentials' }).click()
  await expect(add.getByText('must name a host on the internet')).toBeVisible()
  await add.getByLabel('Address of the keys').fill('https://bank.example.org/keys')
  await add.getByRole('button', { name: 'Add credentials' }).click()
  await expect(table(page)).toContainText('https://bank.example.org/keys')
  await page.getByRole('button', { name: 'New address for' }).click()
  const replace = page.getByRole('dialog', { name: 'Replace the address?' })
  await replace.getByLabel('Address of the keys').fill('https://bank.example.org/next')
  await replace.getByRole('button', { name: 'Replace' }).click()
  await expect(table(page)).toContainText('https://bank.example.org/next')
  expect(complaints).toEqual([])
})
