import { expect, test, type Browser, type Page } from '@playwright/test'
import { callDemo, complaintsOf, expectAccessible, openPage, PASSWORD } from './admin.ts'
import { makeCommunity } from './pages.ts'
import { withSignedInService } from './with-service.ts'

const service = withSignedInService()

test('an administrator accepts an invitation by a link that works once, and the last owner stays', async ({
  page,
  browser,
}) => {
  const complaints = complaintsOf(page)
  await openPage(page, service, 'community?part=administrators', 'Settings')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite an administrator' })
  await dialog.getByLabel('Name').fill('Grace')
  await dialog.getByLabel('Email').fill('not an address')
  await dialog.getByLabel('Viewer').check()
  await dialog.getByRole('button', { name: 'Invite', exact: true }).click()
  await expect(dialog).toContainText('Not an address is not an email address.')
  await expectAccessible(page)
  await dialog.getByLabel('Email').fill('grace@example.org')
  await dialog.getByRole('button', { name: 'Invite', exact: true }).click()
  const shown = page.getByRole('dialog', { name: 'Invitation for Grace' })
  const link = await shown.locator('pre').innerText()
  await expectAccessible(page)
  await shown.getByLabel('I have saved it').check()
  await shown.getByRole('button', { name: 'Close' }).click()
  await expect(page.getByRole('table', { name: 'Invitations' })).toContainText('grace@example.org')
  await expect(page.getByRole('table', { name: 'Administrators' })).not.toContainText('grace@example.org')
  await expectAccessible(page)

  const context = await browser.newContext()
  const other = await context.newPage()
  await other.goto(link)
  await expect(other.getByRole('heading', { level: 1 })).toHaveText('You are invited')
  await expectAccessible(other)
  await other.getByRole('textbox', { name: 'New password' }).fill(PASSWORD)
  await other.getByRole('button', { name: 'Create the account and accept' }).click()
  await expect(other).toHaveURL(/\/console\/demo\/overview/)
  // A viewer can read but finds nothing to change.
  for (const [path, button] of [
    ['exchanges', 'Adjust a balance'],
    ['community?part=administrators', 'Invite'],
    ['community?part=categories', 'Add a category'],
  ] as const) {
    await openPage(other, service, path)
    await expect(other.getByRole('table').first()).toBeVisible()
    await expect(other.getByRole('button', { name: button, exact: true })).toBeHidden()
  }
  await openPage(other, service, 'exchanges/record')
  await expect(other.getByText('not record them')).toBeVisible()
  await other.goto(`${service.url}/console/sign-in`)
  await other.goto(link)
  await expect(other.getByRole('heading', { level: 1 })).toHaveText('This link is no longer valid')
  await context.close()

  await page.reload()
  const own = page.getByRole('row').filter({ hasText: '(you)' })
  await own.getByRole('button', { name: /^Remove/ }).click()
  const asking = page.getByRole('dialog')
  await asking.getByRole('button', { name: 'Remove', exact: true }).click()
  await expect(asking).toContainText('The last owner cannot be removed')
  await asking.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Remove Grace' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await expect(page.getByRole('table', { name: 'Administrators' })).not.toContainText('grace@example.org')
  expect(complaints).toEqual([])
})

test('a person who has an account accepts an invitation signed in, and only as the invited person', async ({
  page,
  browser,
}) => {
  const invite = async (name: string) => {
    await openPage(page, service, 'community?part=administrators', 'Settings')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Invite an administrator' })
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Email').fill('iris@example.org')
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click()
    return shownLink(`Invitation for ${name}`)
  }
  const shownLink = async (title: string) => {
    const shown = page.getByRole('dialog', { name: title })
    const link = await shown.locator('pre').innerText()
    await shown.getByLabel('I have saved it').check()
    await shown.getByRole('button', { name: 'Close' }).click()
    return link
  }
  const context = await browser.newContext()
  const other = await context.newPage()
  await other.goto(await invite('Iris'))
  await other.getByRole('textbox', { name: 'New password' }).fill(PASSWORD)
  await other.getByRole('button', { name: 'Create the account and accept' }).click()
  await expect(other).toHaveURL(/\/console\/demo\/overview/)
  await page.reload()
  await page.getByRole('button', { name: 'Remove Iris' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await expect(page.getByRole('table', { name: 'Administrators' })).not.toContainText('iris@example.org')

  const lost = await invite('Iris again')
  await page.getByRole('button', { name: 'New link for Iris again' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make the link' }).click()
  const link = await shownLink('Invitation for Iris again')
  await page.goto(lost)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('This link is no longer valid')
  await page.goto('about:blank')
  await page.goto(link)
  await expect(page.getByText('To accept, sign in as iris@example.org.')).toBeVisible()
  await expectAccessible(page)

  await other.context().clearCookies()
  await other.goto('about:blank')
  await other.goto(link)
  await other.getByRole('textbox', { name: 'New password' }).fill('another good password')
  await other.getByRole('button', { name: 'Create the account and accept' }).click()
  await expect(other.getByRole('alert')).toContainText('No account was created.')
  await other.getByRole('button', { name: 'I have an account already' }).click()
  await expectAccessible(other)
  await other.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await other.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(other.getByLabel('Your name')).toHaveValue('Iris again')
  await expectAccessible(other)
  await other.getByRole('button', { name: 'Accept', exact: true }).click()
  await expect(other).toHaveURL(/\/console\/demo\/overview/)
  await context.close()

  await openPage(page, service, 'community?part=administrators', 'Settings')
  await expect(page.getByRole('table', { name: 'Administrators' })).toContainText('Iris again')
  await openPage(page, service, 'audit?action=admin.', 'Audit')
  for (const sentence of [
    'Iris again accepted the invitation as manager',
    'invited iris@example.org',
    'made a new link for the invitation of iris@example.org',
  ]) {
    await expect(page.getByRole('table').getByText(sentence).first()).toBeVisible()
  }
})

/** Opens the administrators in the browser of another owner, who has just accepted an invitation. */
async function openAsOwner(page: Page, browser: Browser, name: string): Promise<Page> {
  const word = name.toLowerCase()
  const invitation = { name, email: `${word}@example.org`, role: 'owner', key: `the-invitation-of-${word}` }
  const { link } = await callDemo<{ link: { url: string } }>(page, service, '/administrators', invitation)
  const context = await browser.newContext()
  const other = await context.newPage()
  await other.goto(link.url)
  await other.getByRole('textbox', { name: 'New password' }).fill(PASSWORD)
  await other.getByRole('button', { name: 'Create the account and accept' }).click()
  await expect(other).toHaveURL(/\/console\/demo\/overview/)
  await openPage(other, service, 'community?part=administrators', 'Settings')
  return other
}

test('an owner who removes themself leaves the community at once', async ({ page, browser }) => {
  const other = await openAsOwner(page, browser, 'Paula')
  await other.getByRole('button', { name: 'Remove Paula' }).click()
  await other.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await expect(other.getByRole('heading', { level: 1 })).toHaveText('No community')
  await other.context().close()
})

test('only owners of every community can reset a password, because it opens all of them', async ({ page, browser }) => {
  await makeCommunity(service, 0)
  const other = await openAsOwner(page, browser, 'Olga')
  await expect(other.getByRole('button', { name: 'Change role of Olga' })).toBeVisible()
  await expect(other.getByRole('button', { name: /^Reset password/ })).toHaveCount(0)
  await other.context().close()

  await openPage(page, service, 'community?part=administrators', 'Settings')
  await expect(page.getByRole('button', { name: 'Reset password of Olga' })).toBeVisible()
})
