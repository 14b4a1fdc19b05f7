import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, type Locator, type Page } from '@playwright/test'
import { encode } from 'uqr'
import { callDemo, complaintsOf, expectAccessible, expectNoViolations, openPage } from './admin.ts'
import { germanTable, textOf } from './office-files.ts'
import { withSignedInService } from './with-service.ts'

const IBAN = 'DE89370400440532013000'
/** A folder for pictures of the pages. They are then also checked on a phone, a tablet and a large screen. */
const OUTPUT = process.env.SCREENSHOTS
const WIDTHS = OUTPUT ? [360, 768, 1600] : [1280]

const service = withSignedInService()

const call = <T>(page: Page, path: string, data?: object, method?: string) =>
  callDemo<T>(page, service, path, data, method)

interface Member {
  id: number
  name: string
  external_id: string
  email: string | null
  payment_reference: string
  balance_hours: number
}

const findMembers = (page: Page, q: string) => call<Member[]>(page, `/members?q=${encodeURIComponent(q)}`)

async function expectAccessibleEverywhere(page: Page, name: string): Promise<void> {
  const before = page.viewportSize()!
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    await expectAccessible(page)
    if (OUTPUT) await page.screenshot({ path: `${OUTPUT}/${name}-${width}.png`, fullPage: true })
  }
  await page.setViewportSize(before)
}

const HEADER = 'Nummer;Vorname;Nachname;E-Mail;Eintritt;Stunden'
const ROWS = [
  'G-1;Jürgen;Weiß;juergen@example.org;31.05.2024;1.234,50',
  'G-2;Käthe;Groß;;1.1.2020;-2,25',
  'G-3;Zoé;;;;',
]

test('a German table with its own headers is mapped, imported with opening balances, and the mapping is remembered', async ({
  page,
}) => {
  const complaints = complaintsOf(page)
  await openPage(page, service, 'members/import', 'Import members')
  await page.setInputFiles('input[type=file]', germanTable('Mitglieder 2026.csv', HEADER, ...ROWS))
  await page.getByRole('button', { name: 'Check the file' }).click()
  await expect(page.getByRole('heading', { name: 'Which column is which?' })).toBeVisible()
  const first = page.getByRole('table', { name: 'The first rows of the file' })
  await expect(first).toContainText('Käthe')
  await expect(page.getByLabel('Encoding')).toHaveValue('windows-1252')
  await expect(page.getByLabel('Column separator')).toHaveValue('semicolon')
  await expect(page.getByLabel('Numbers')).toHaveValue('comma')

  // A wrong encoding can be seen, and corrected.
  await page.getByLabel('Encoding').selectOption('utf-8')
  await expect(page.getByRole('alert')).toContainText('not UTF-8')
  const choice = (name: string) => page.getByRole('combobox', { name, exact: true })
  // While the file is read again, nothing can be chosen that the new columns would replace.
  let readAgain!: () => void
  const held = new Promise<void>((resolve) => (readAgain = resolve))
  await page.route('**/import/inspect*', (route) => held.then(() => route.continue()))
  await page.getByLabel('Encoding').selectOption('windows-1252')
  await expect(choice('Opening balance')).toBeDisabled()
  readAgain()
  await expect(page.getByRole('alert')).toBeHidden()
  await expect(choice('Opening balance')).toBeEnabled()

  const chosen = (name: string) => choice(name).locator('option:checked')
  await expect(chosen('Number')).toHaveText('Nummer')
  await expect(chosen('Name')).toHaveText('Vorname')
  await expect(chosen('Name, part 2')).toHaveText('Nachname')
  await expect(chosen('Joined')).toHaveText('Eintritt')
  await expect(chosen('Opening balance')).toHaveText('Not in the file')
  await choice('Number').selectOption('')
  await expect(page.getByText('Choose a column for “Number” first.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Check the rows' })).toBeDisabled()
  await expectAccessibleEverywhere(page, 'map')
  await choice('Number').selectOption('Nummer')
  await choice('Opening balance').selectOption('Stunden')
  await page.getByRole('button', { name: 'Check the rows' }).click()

  await expect(page.getByText('Opening balances: 2 members, 1,232.25 h in total.')).toBeVisible()
  await expect(page.getByRole('table', { name: 'What happens to each row' })).toContainText('Jürgen Weiß (G-1)')
  await expectAccessibleEverywhere(page, 'preview')
  expect(await findMembers(page, 'G-1')).toEqual([])
  await page.getByRole('button', { name: 'Import 3 rows' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'imported' })).toContainText('3 added')
  const members = await Promise.all(['G-1', 'G-2', 'G-3'].map(async (q) => (await findMembers(page, q))[0]))
  expect(members).toMatchObject([
    { name: 'Jürgen Weiß', email: 'juergen@example.org', balance_hours: 1234.5 },
    { name: 'Käthe Groß', email: null, balance_hours: -2.25 },
    { name: 'Zoé', balance_hours: 0 },
  ])

  // The same table again, from a fresh page: everything is filled in, and nothing is recorded twice.
  await openPage(page, service, 'members/import', 'Import members')
  await page.setInputFiles('input[type=file]', germanTable('Mitglieder 2027.csv', HEADER, ...ROWS))
  await page.getByRole('button', { name: 'Check the file' }).click()
  await expect(page.getByText('Filled in as for the last file')).toBeVisible()
  await expect(chosen('Opening balance')).toHaveText('Stunden')
  await page.getByRole('button', { name: 'Check the rows' }).click()
  await expect(page.getByRole('button', { name: 'Nothing to import' })).toBeDisabled()
  await expect(page.getByText('3 unchanged')).toBeVisible()
  await page.getByRole('button', { name: 'Change how it is read' }).click()
  await expect(page.getByRole('heading', { name: 'Which column is which?' })).toBeVisible()
  expect(complaints).toEqual([])
})

test('a column that is not in the file is not imported, nor the further ones that are not shown with it', async ({
  page,
}) => {
  await openPage(page, service, 'members/import', 'Import members')
  const header = 'Nummer;Vorname;Nachname;Straße;PLZ;Ort'
  await page.setInputFiles('input[type=file]', germanTable('Teile.csv', header, 'T-1;Tina;Teil;Ring 1;1010;Wien'))
  await page.getByRole('button', { name: 'Check the file' }).click()
  const choice = (name: string) => page.getByRole('combobox', { name, exact: true })
  await choice('Address').selectOption('Straße')
  await choice('Address, part 2').selectOption('PLZ')
  await choice('Address, part 3').selectOption('Ort')
  await choice('Address').selectOption('Not in the file')
  await expect(page.getByRole('combobox', { name: /^Address, part/ })).toHaveCount(0)
  const check = page.getByRole('button', { name: 'Check the rows' })
  await expect(choice('Name, part 2')).toBeVisible()
  await choice('Name').selectOption('Not in the file')
  await expect(page.getByText('Choose a column for “Name” first.')).toBeVisible()
  await expect(check).toBeDisabled()
  await choice('Name').selectOption('Vorname')
  const sent = page.waitForRequest(/\/import\?/)
  await check.click()
  const columns = new URL((await sent).url()).searchParams.get('columns')
  expect(columns).toBe('name:1,external_id:0')
})

test('a file that was corrected and saved after it was chosen is to be chosen again', async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-e2e-file-'))
  const path = join(folder, 'members.csv')
  const check = async () => {
    await page.setInputFiles('input[type=file]', path)
    await page.getByRole('button', { name: 'Check the file' }).click()
  }
  await writeFile(path, 'external_id;name\r\nS-1;\r\n')
  // Saved seconds before: browsers compare no less.
  const earlier = new Date('2026-01-05')
  await utimes(path, earlier, earlier)
  await openPage(page, service, 'members/import', 'Import members')
  await check()
  await expect(page.getByText('One row is bad')).toBeVisible()
  await writeFile(path, 'external_id;name\r\nS-1;Sara Saved\r\n')
  await page.getByRole('button', { name: 'Change how it is read' }).click()
  await page.getByRole('button', { name: 'Check the rows' }).click()
  await expect(page.getByText('The file has changed since you chose it. Choose it again.')).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Choose another file' }).click()
  await check()
  await expect(page.getByText('1 new')).toBeVisible()

  await utimes(path, earlier, earlier)
  await page.getByRole('button', { name: 'Import 1 row' }).click()
  await expect(page.getByText('The file has changed since you chose it. Choose it again.')).toBeVisible()
  await rm(folder, { recursive: true })
})

/** The words in the cells of a table that go on in a second line. */
const brokenWords = (table: Locator) =>
  table.getByRole('cell').evaluateAll((cells) =>
    cells.flatMap((cell) => {
      const range = cell.ownerDocument.createRange()
      const words = [...(cell.firstChild?.textContent ?? '').matchAll(/\S+/g)]
      const broken = words.filter(({ index, 0: word }) => {
        range.setStart(cell.firstChild!, index)
        range.setEnd(cell.firstChild!, index + word.length)
        return range.getClientRects().length > 1
      })
      return broken.map(([word]) => word)
    }),
  )

test('the first rows of a file with many columns can be read', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 900 })
  await openPage(page, service, 'members/import', 'Import members')
  const header = 'Nr;Vorname;Nachname;Straße;PLZ;Ort;Telefon;E-Mail;Eintritt;Stunden;Gruppe;Bemerkung'
  const row =
    '1001;Jörg;Weißenbacher;Ringstraße;1010;Wien;06647654321;joerg@example.org;31.05.2024;1.234,50;Vorstand;keine'
  await page.setInputFiles('input[type=file]', germanTable('Viele Spalten.csv', header, row))
  await page.getByRole('button', { name: 'Check the file' }).click()
  const first = page.getByRole('table', { name: 'The first rows of the file' })
  await expect(first.getByRole('cell')).toHaveCount(12)
  expect(await brokenWords(first)).toEqual([])
  // The rest is reached by the keyboard too.
  await expectNoViolations(page, ['light'])
  await page.setViewportSize({ width: 360, height: 740 })
  await expectAccessible(page)
})

test('an empty cell keeps what is there, unless empty cells are to clear it', async ({ page }) => {
  await call(page, '/members', { name: 'Erna Leer', external_id: 'E-1', email: 'erna@example.org' })
  const row = () => page.getByRole('table', { name: 'What happens to each row' }).getByRole('row').nth(1)
  await openPage(page, service, 'members/import', 'Import members')
  await page.setInputFiles('input[type=file]', germanTable('Leer.csv', 'external_id;name;email', 'E-1;Erna Leer;'))
  await page.getByRole('button', { name: 'Check the file' }).click()
  await expect(page.getByText('Empty cells keep what is there.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Nothing to import' })).toBeDisabled()

  await page.getByRole('button', { name: 'Change how it is read' }).click()
  await page.getByLabel('Empty cells').selectOption('Clear what is there')
  await page.getByRole('button', { name: 'Check the rows' }).click()
  await expect(page.getByText('Empty cells clear what is there')).toBeVisible()
  await expect(row()).toContainText('Changes: email')
  await page.getByRole('button', { name: 'Change how it is read' }).click()
  await expect(page.getByLabel('Empty cells')).toHaveValue('clear')
  await page.getByRole('button', { name: 'Check the rows' }).click()
  await page.getByRole('button', { name: 'Import 1 row' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'imported' })).toContainText('1 changed')
  expect(await findMembers(page, 'Erna Leer')).toMatchObject([{ name: 'Erna Leer', email: null }])
})

test('a printed statement follows the days of service, and its sums and the payment are in the PDF', async ({
  page,
}) => {
  const complaints = complaintsOf(page)
  const [ada, ben] = [
    await call<Member>(page, '/members', { name: 'Ada Auszug' }),
    await call<Member>(page, '/members', { name: 'Ben Beleg' }),
  ]
  const slip = { giver_id: ada.id, receiver_id: ben.id }
  const slips = [
    { ...slip, hours: 1.75, occurred_on: '2025-08-31', note: 'In August' },
    { ...slip, hours: 2.25, occurred_on: '2025-09-01', note: 'On the first' },
    { ...slip, hours: 0.5, occurred_on: '2025-09-30', note: 'On the last' },
    { ...slip, hours: 4, occurred_on: '2025-10-01', note: 'In October' },
  ]
  await call(page, '/exchanges', { slips })
  await call(page, '', { iban: IBAN, account_holder: 'Zeitbank e.V.' }, 'PATCH')
  await openPage(page, service, `members/${ada.id}/statement?from=2025-09-01&until=2025-09-30`, /Ada Auszug/)
  const rows = page.getByRole('table').getByRole('row')
  await expect(rows).toHaveCount(5)
  await expect(rows.nth(1)).toContainText('Balance before1.75 h')
  await expect(rows.nth(2)).toContainText(/1 Sept? 2025recorded .*\+2.25\sh4\sh/)
  await expect(rows.last()).toContainText('Balance after4.5 h')

  const code = page.getByRole('img', { name: 'QR code for a bank transfer' })
  const text = ['BCD', '002', '1', 'SCT', '', 'Zeitbank e.V.', IBAN, '', '', ada.payment_reference].join('\n')
  const { data } = encode(text, { border: 4, ecc: 'M', boostEcc: false })
  const squares = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  await expect(code.locator('path')).toHaveAttribute('d', squares.join(''))
  await expectAccessibleEverywhere(page, 'statement')

  await page.emulateMedia({ media: 'print', colorScheme: 'light' })
  const pdf = await page.pdf({ format: 'A4', ...(OUTPUT && { path: `${OUTPUT}/statement.pdf` }) })
  if (OUTPUT) await page.screenshot({ path: `${OUTPUT}/statement-print.png`, fullPage: true })
  const plain = await textOf(pdf)
  const numbers = (label: RegExp) => Number(label.exec(plain)?.[1])
  const [opening, closing] = [numbers(/Balance before ([\d.]+) h/), numbers(/Balance after ([\d.]+) h/)]
  const changes = [...plain.matchAll(/\+([\d.]+) h/g)].map(([, hours]) => Number(hours))
  expect(changes).toEqual([2.25, 0.5])
  expect(opening + changes.reduce((sum, hours) => sum + hours, 0)).toBe(closing)
  expect(closing).toBe(4.5)
  expect(plain).not.toContain('In August')
  expect(plain).not.toContain('In October')
  expect(plain.replaceAll(' ', '')).toContain(`IBAN${IBAN}`)
  expect(plain.replaceAll(' ', '')).toContain(`Reference${ada.payment_reference}`)
  expect(complaints).toEqual([])
})

test('an export is written with the chosen delimiter and encoding, and has balances and references', async ({
  page,
}) => {
  await call(page, '/members', { name: 'Exporta Müller', external_id: 'EX-1' })
  await openPage(page, service, 'members', 'Members')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const dialog = page.getByRole('dialog', { name: 'Export CSV' })
  await dialog.getByLabel('Column separator').selectOption('semicolon')
  await dialog.getByLabel('Encoding').selectOption('windows-1252')
  await expectAccessibleEverywhere(page, 'export')
  const downloading = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download' }).click()
  const bytes = await readFile(await (await downloading).path())
  const [header, ...lines] = bytes.toString('latin1').split('\r\n')
  expect(header).toMatch(/^external_id;name;.*balance_hours;payment_reference$/)
  const row = lines.find((line) => line.startsWith('EX-1;'))
  expect(row).toMatch(/^EX-1;Exporta Müller;.*;0;RF\d+$/)
  // Hours have decimal commas, as the same spreadsheet expects them.
  expect(lines.filter((line) => /;-?\d+,\d+;RF\d+$/.test(line)).length).toBeGreaterThan(0)
})

test('a page opened while the service is away reports it, and loads when it is back', async ({ page }) => {
  await openPage(page, service, 'overview', 'Overview')
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Listings', exact: true }).click()
  await expect(page.getByText('No connection to the service. Trying again …')).toBeVisible()
  await expect(page.getByText('Something went wrong')).toBeHidden()
  await page.context().setOffline(false)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Listings')
  await expect(page.getByRole('row').nth(1)).toBeVisible()
  await expect(page.getByText('No connection to the service. Trying again …')).toBeHidden()
  // With its style sheets.
  await expect(page.getByRole('table').first()).toHaveCSS('border-collapse', 'collapse')
})

test('a wrong password shows no request id, and communities with the same name show their slug', async ({
  page,
  browser,
}) => {
  const context = await browser.newContext()
  const other = await context.newPage()
  await other.goto(`${service.url}/console/sign-in`)
  await other.getByLabel('Email').fill('nobody@example.org')
  await other.getByLabel('Password', { exact: true }).fill('not the password')
  await other.getByRole('button', { name: 'Sign in', exact: true }).click()
  const alert = other.getByRole('alert')
  await expect(alert).toBeVisible()
  await expect(alert).not.toContainText('Request')
  await context.close()

  const { name } = await call<{ name: string }>(page, '')
  const { slug } = await call<{ slug: string }>(page, '/test-communities', { name })
  await page.goto(`${service.url}/console/`)
  await expect(page.getByRole('link', { name: `${name} (demo)` })).toBeVisible()
  await expect(page.getByRole('link', { name: `${name} (${slug})` })).toBeVisible()
  await expectAccessible(page)
  await openPage(page, service, 'overview', 'Overview')
  await page.getByRole('button', { name: `${name} (demo)` }).click()
  await expect(page.getByRole('link', { name: `${name} (${slug}) (test)` })).toBeVisible()
})
