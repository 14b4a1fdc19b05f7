import { expect, test, type Page } from '@playwright/test'
import { ADMIN_API, complaintsOf, dialogHasFocus, expectAccessible, holdAnswers, openPage, signIn } from './admin.ts'
import { withService } from './with-service.ts'

/** Stored as a name by a test, as an attacker would. */
const MARKUP = `<img src=x onerror="document.title='pwned'"><b>Mallory</b>`

const service = withService()

const address = (path: string) => `${service.url}${ADMIN_API}/communities/demo${path}`

async function call<T>(page: Page, path: string, data?: object): Promise<T> {
  const headers = { origin: service.url }
  const answer = await (data ? page.request.post(address(path), { headers, data }) : page.request.get(address(path)))
  expect(answer.ok(), `${path}: ${answer.status()}`).toBe(true)
  return (await answer.json()).data
}

interface Member {
  id: number
  name: string
  status: string
  hidden: boolean
  balance_hours: number
  erased_at: string | null
}

const addMember = (page: Page, name: string) => call<Member>(page, '/members', { name })
const findMembers = (page: Page, q: string) => call<Member[]>(page, `/members?q=${encodeURIComponent(q)}`)

async function actionsOn(page: Page, kind: string, id: number): Promise<string[]> {
  const entries = await call<{ action: string }[]>(page, `/audit?subject_kind=${kind}&subject_id=${id}`)
  return entries.map(({ action }) => action)
}

const csv = (...lines: string[]) => ({
  name: 'members.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(`${lines.join('\r\n')}\r\n`),
})

test('an import shows every invalid row before anything is written, and then writes the valid ones', async ({
  page,
}) => {
  const complaints = complaintsOf(page)
  await signIn(page, service)
  await openPage(page, service, 'members', 'Members')
  await page.getByRole('link', { name: 'Import CSV' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Import members')
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Check the file' }).click()
  await expect(page.getByText('Choose a file first.')).toBeVisible()

  await page.setInputFiles('input[type=file]', csv('PK\u0003\u0004 and the rest of a workbook'))
  await page.getByRole('button', { name: 'Check the file' }).click()
  await expect(page.getByRole('alert')).toContainText('save it as CSV')

  const rows = [
    'external_id,name,email',
    'X-1,Xenia Import,xenia@example.org',
    'X-2,,nowhere',
    `X-3,"${MARKUP.replaceAll('"', '""')}",`,
    'X-3,Twice,',
  ]
  await page.setInputFiles('input[type=file]', csv(...rows))
  await page.getByRole('button', { name: 'Check the file' }).click()
  const table = page.getByRole('table', { name: 'What happens to each row' })
  await expect(table.getByRole('row')).toHaveCount(3)
  await expect(table).toContainText('The name must have 1 to 200 characters. This is not a valid email address.')
  await expect(table).toContainText('The external id is in line 4 already.')
  await page.getByLabel('Show').selectOption({ label: 'All rows (4)' })
  await expect(table.getByRole('row')).toHaveCount(5)
  await expect(table).toContainText(MARKUP)
  await expect(page.getByRole('button', { name: 'Import 2 rows' })).toBeDisabled()
  await expectAccessible(page)
  expect(await findMembers(page, 'X-1')).toEqual([])

  await page.getByLabel('Leave the bad rows out').check()
  await page.getByRole('button', { name: 'Import 2 rows' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'imported' })).toContainText(
    '2 added, 0 changed, 0 unchanged, 2 left out.',
  )
  await expectAccessible(page)
  const [xenia] = await findMembers(page, 'X-1')
  expect(xenia).toMatchObject({ name: 'Xenia Import' })
  expect(await actionsOn(page, 'member', xenia!.id)).toEqual(['member.added'])

  await page.getByRole('link', { name: 'To the members' }).click()
  await expect(page.getByRole('row').nth(1)).toContainText(MARKUP)
  expect(await page.title()).toContain('Members')
  expect(complaints).toEqual([])
})

test('members are found, added and changed, and errors are shown next to their fields', async ({ page }) => {
  const complaints = complaintsOf(page)
  await signIn(page, service)
  await openPage(page, service, 'members', 'Members')
  await expect(page.getByRole('row').nth(1)).toBeVisible()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Add member' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Ada Formular')
  await dialog.getByLabel('Email address').fill('nowhere')
  await dialog.getByRole('button', { name: 'Add member' }).click()
  await expect(dialog.getByText('This is not a valid email address.')).toBeVisible()
  await expect(dialog.getByLabel('Name')).toHaveValue('Ada Formular')
  await expectAccessible(page)
  await dialog.getByLabel('Email address').fill('ada.formular@example.org')
  await dialog.getByRole('button', { name: 'Add member' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Ada Formular')
  await expect(page.getByText('none since joining')).toBeVisible()

  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('dialog').getByLabel('Your number for this member').fill('A-77')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('A-77')).toBeVisible()

  await page.getByRole('link', { name: 'Members', exact: true }).click()
  await page.getByRole('textbox', { name: 'Search' }).fill('formu a-77')
  await expect(page).toHaveURL(/q=formu/)
  await expect(page.getByRole('row')).toHaveCount(2)
  // The day of joining is no day of an exchange.
  await expect(page.getByRole('row').nth(1)).toContainText('none since joining')
  await page.reload()
  await expect(page.getByRole('row')).toHaveCount(2)
  await page.getByRole('textbox', { name: 'Search' }).fill('nobody is called so')
  await expect(page.getByText('Nobody fits')).toBeVisible()
  await expectAccessible(page)

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Download' }).click()
  expect((await downloading).suggestedFilename()).toBe('demo-members.csv')
  expect(complaints).toEqual([])
})

test('a member is hidden, leaves, returns and is erased with the keyboard alone, and all of it is audited', async ({
  page,
}) => {
  const complaints = complaintsOf(page)
  await signIn(page, service)
  const member = await addMember(page, `Kim ${MARKUP}`)
  await call(page, '/adjustments', { member_id: member.id, hours: 3.5, reason: 'Start' })
  await openPage(page, service, `members/${member.id}`, `Kim ${MARKUP}`)
  await expect(page.getByText('3.5 h').first()).toBeVisible()
  await expectAccessible(page)
  const press = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).last().press('Enter')
  }
  const now = () => call<Member>(page, `/members/${member.id}`)

  await press('Hide from partners')
  await expect(page.getByRole('dialog')).toContainText('forget this member')
  await dialogHasFocus(page)
  // What is being done can no longer be cancelled, so that its error is seen.
  let fail!: () => void
  const held = new Promise<void>((resolve) => (fail = resolve))
  await page.route('**/hide', (route) => held.then(() => route.abort()))
  await press('Hide')
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Cancel' })).toBeDisabled()
  await page.keyboard.press('Escape')
  fail()
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('No connection')
  await page.unroute('**/hide')
  await press('Hide')
  await expect(page.getByText('is hidden from partners')).toBeVisible()
  expect(await now()).toMatchObject({ hidden: true })
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('button', { name: 'Hide from partners' })).toBeVisible()
  expect(await now()).toMatchObject({ hidden: false })

  await press('End membership')
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('The wallet holds 3.5 h.')
  await dialogHasFocus(page)
  await dialog.getByLabel('Keep it in the wallet').press('ArrowDown')
  await press('End membership')
  await expect(dialog.getByText('Say why.')).toBeVisible()
  await expectAccessible(page)
  await dialog.getByLabel('Reason').fill('Moved away')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: 'Member returns' })).toBeVisible()
  expect(await now()).toMatchObject({ status: 'inactive', balance_hours: 0 })
  await expect(page.getByRole('table', { name: 'Statement' })).toContainText('Moved away')

  await press('Member returns')
  // Otherwise the second key press would reach the button behind the dialog.
  await dialogHasFocus(page)
  await press('Member returns')
  await expect(page.getByRole('button', { name: 'End membership' })).toBeVisible()

  await press('Erase this person')
  const erase = page.getByRole('button', { name: 'Erase for good' })
  await expect(erase).toBeDisabled()
  for (const erased of ['Name', 'email address', 'phone', 'postal address', 'number', 'tags', 'listings', 'notes']) {
    await expect(page.getByRole('dialog').getByRole('listitem').first()).toContainText(erased)
  }
  await expectAccessible(page)
  await dialogHasFocus(page)
  await page.keyboard.type('erase')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Erased member')
  await expect(page.getByRole('button', { name: 'Erase this person' })).toHaveCount(0)
  expect((await now()).erased_at).not.toBeNull()

  expect((await actionsOn(page, 'member', member.id)).toReversed()).toEqual([
    'member.added',
    'member.hidden',
    'member.shown',
    'member.left',
    'member.returned',
    'member.left',
    'member.erased',
  ])
  expect(await page.title()).not.toContain('pwned')
  expect(complaints).toEqual([])
})

test('the page of the next member shows nothing of the one before, and a tag that is not saved says why', async ({
  page,
}) => {
  await signIn(page, service)
  const [ada, ben] = [await addMember(page, 'Ada Before'), await addMember(page, 'Ben After')]
  await call(page, '/adjustments', { member_id: ada.id, hours: 2, reason: 'A gift for Ada' })
  const release = await holdAnswers(page, new RegExp(`/members/${ben.id}/statement`))
  const goTo = async ({ name }: Member) => {
    await page.keyboard.press('Control+k')
    await expect(page.getByRole('dialog').getByRole('combobox')).toBeFocused()
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(name)
    await expect(page.getByRole('dialog')).toHaveCount(0)
  }
  // He is known, so his page is there at once when it is opened again; his statement is not.
  await openPage(page, service, `members/${ben.id}`, ben.name)
  await goTo(ada)
  await expect(page.getByText('A gift for Ada')).toBeVisible()
  const tag = page.getByLabel('New tag')
  await tag.fill('for Ada')
  await goTo(ben)
  await expect(tag).toHaveValue('')
  await expect(page.getByText('A gift for Ada')).toHaveCount(0)
  release()

  const releaseTags = await holdAnswers(page, /\/tags$/, 'GET')
  await tag.fill('driver')
  await page.getByRole('button', { name: 'Add tag' }).click()
  const remove = page.getByRole('button', { name: 'Remove the tag driver' })
  await expect(remove).toBeVisible()
  // The next one can be typed although the list of all tags is still being read.
  await tag.pressSequentially('bo')
  await expect(tag).toHaveValue('bo')
  releaseTags()
  await page.route('**/tags', (route) => route.abort())
  const alert = page.getByRole('alert').filter({ hasText: 'No connection' })
  await remove.click()
  await expect(alert).toHaveCount(1)
  await tag.fill('board')
  await page.getByRole('button', { name: 'Add tag' }).click()
  await expect(alert).toHaveCount(2)
  await page.unrouteAll()
  await remove.click()
  await expect(remove).toHaveCount(0)
  await expect(alert).toHaveCount(1)
})

test('a statement is printed without the console around it, starting with the first day', async ({ page }) => {
  const complaints = complaintsOf(page)
  await signIn(page, service)
  const [member] = await call<Member[]>(page, '/members?status=active&limit=1')
  await call(page, '/adjustments', { member_id: member!.id, hours: 1.25, reason: 'A gift for the print' })
  const { balance_hours } = await call<Member>(page, `/members/${member!.id}`)
  // The ledger is chained in the background.
  const readHead = async () =>
    (await call<{ ledger_head: object | null }>(page, `/members/${member!.id}/statement/by-service`)).ledger_head
  await expect.poll(readHead).not.toBeNull()
  await openPage(page, service, `members/${member!.id}`, member!.name)
  await page.getByRole('link', { name: 'Print a statement' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Statement for ${member!.name}`)
  const table = page.getByRole('table')
  await expect(table.getByRole('row').nth(1)).toContainText('Balance before0 h')
  await expect(table.getByRole('row').last()).toContainText(`Balance after${balance_hours} h`)
  await expect(table.getByRole('row').nth(-2)).toContainText('A gift for the print')
  await expect(page.getByText(/^Ledger of the community: position \d+, SHA-256 [0-9a-f]{64}$/)).toBeVisible()
  await expectAccessible(page)

  await page.emulateMedia({ media: 'print' })
  await expect(page.getByRole('button', { name: 'Print' })).toBeHidden()
  await expect(page.getByRole('link', { name: 'Listings' })).toBeHidden()
  await expect(table).toBeVisible()
  expect((await page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-')
  await page.emulateMedia({ media: 'screen' })

  await page.getByLabel('Until').fill('2001-01-01')
  await expect(table.getByRole('row')).toHaveCount(3)
  await expect(table.getByRole('row').last()).toContainText('Balance after0 h')
  expect(complaints).toEqual([])
})

test('a listing is added for a member found by name, changed, closed and reopened', async ({ page }) => {
  const complaints = complaintsOf(page)
  await signIn(page, service)
  const member = await addMember(page, 'Lena Listing')
  await openPage(page, service, 'listings', 'Listings')
  await expect(page.getByRole('row').nth(1)).toBeVisible()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Add listing' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Add listing' }).click()
  await expect(dialog.getByText('Choose the member whose listing it is.')).toBeVisible()
  await dialog.getByLabel('Member').fill('lena list')
  await page.getByRole('option', { name: 'Lena Listing' }).click()
  await dialog.getByLabel('Title').fill(MARKUP)
  await dialog.getByRole('button', { name: 'Add listing' }).click()
  await expect(dialog.getByText('The category must have 1 to 100 characters.')).toBeVisible()
  await expectAccessible(page)
  await dialog.getByLabel('Category').fill('Curiosities')
  await dialog.getByLabel('Hours').fill('1,5')
  await dialog.getByRole('button', { name: 'Add listing' }).click()
  const row = page.getByRole('row').nth(1)
  await expect(row).toContainText(MARKUP)
  await expect(row).toContainText('Curiosities')

  const edit = row.getByRole('button', { name: /^Edit/ })
  await edit.click()
  await page.getByRole('dialog').getByLabel('Title').fill('A plain title')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(row).toContainText('A plain title')
  await expect(edit).toBeFocused()
  await row.getByRole('button', { name: 'Close “A plain title”' }).click()
  await page.getByRole('button', { name: 'Close listing' }).click()
  await expect(row).toContainText('Closed')
  await row.getByRole('button', { name: 'Reopen “A plain title”' }).click()
  await page.getByRole('button', { name: 'Reopen listing' }).click()
  await expect(row).toContainText('Open')

  const [listing] = await call<{ id: number; hours: number }[]>(page, `/listings?member_id=${member.id}`)
  expect(listing).toMatchObject({ hours: 1.5 })
  expect((await actionsOn(page, 'listing', listing!.id)).toReversed()).toEqual([
    'listing.published',
    'listing.updated',
    'listing.closed',
    'listing.published',
  ])
  await openPage(page, service, `listings?member=${member.id}`, 'Listings')
  await expect(page.getByText('Only listings of Lena Listing.')).toBeVisible()
  await expect(page.getByRole('row')).toHaveCount(2)
  await expectAccessible(page)

  await page.getByRole('link', { name: 'Import CSV' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Import listings')
  const head = 'external_id,member_external_id,type,title,category'
  await page.setInputFiles('input[type=file]', csv(head, 'Z-1,nobody-has-this,service,Bread,Kitchen'))
  await page.getByRole('button', { name: 'Check the file' }).click()
  await expect(page.getByText('There is no member with the external id nobody-has-this.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Nothing to import' })).toBeDisabled()
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('a viewer sees no button that changes anything', async ({ page }) => {
  await signIn(page, service)
  const invitation = { email: 'viewer@lindenau.example', name: 'Viewer', role: 'viewer' }
  const { link } = await call<{ link: { url: string } }>(page, '/administrators', invitation)
  const viewer = { email: invitation.email, password: 'a viewer looks only' }
  const used = await page.request.post(`${service.url}${ADMIN_API}/links/use`, {
    headers: { origin: service.url },
    data: { token: new URL(link.url).hash.slice(1), password: viewer.password },
  })
  expect(used.ok()).toBe(true)
  await signIn(page, service, viewer)
  await openPage(page, service, 'members', 'Members')
  await page.getByRole('row').nth(1).getByRole('link').click()
  await expect(page.getByRole('table', { name: 'Statement' }).or(page.getByText('Nothing yet'))).toBeVisible()
  for (const name of ['Edit', 'Hide from partners', 'End membership', 'Erase this person']) {
    await expect(page.getByRole('button', { name })).toHaveCount(0)
  }
  await openPage(page, service, 'listings', 'Listings')
  await expect(page.getByRole('row').nth(1)).toBeVisible()
  await expect(page.getByRole('button', { name: /^(Edit|Close|Reopen|Add)/ })).toHaveCount(0)
  await openPage(page, service, 'members/import', 'Import members')
  await expect(page.getByText('Your role does not include this')).toBeVisible()
})
