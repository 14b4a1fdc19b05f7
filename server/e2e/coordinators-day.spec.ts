import { expect, test, type Page } from '@playwright/test'
import { readFile } from 'node:fs/promises'
import { callDemo, complaintsOf, openPage, signIn } from './admin.ts'
import { germanTable, textOf } from './office-files.ts'
import { startService, type Service } from './service.ts'
import { chooseMember, fillSlip, slip } from './slip.ts'

const HEADER = 'Mitgliedsnr;Vorname;Familienname;Mitglied seit;Guthaben'
const GOOD_ROWS = [
  'T-1;Quirina;Anruferin;31.05.2024;3,5',
  'T-2;Quentin;Anrufer;1.1.2020;-2,25',
  'T-3;Quitta;Mehrfach;;1.234,75',
  'T-4;Gerda;Müller;;',
  'T-5;Nina;Nehmer;;20',
  'T-6;Paul;Pleite;;',
  // Far below what anybody in the demo town owes, so that the overview names him first.
  'T-7;Jürgen;Weiß;;-500',
  'T-8;Zoë;Längst-Weg;2.1.2001;0,75',
  'T-9;Käthe;Längst-Weg;2.1.2001;',
]
const BAD_ROW = 'T-10;Max;Datum;30.02.2024;1'
const CORRECTED_ROW = 'T-10;Max;Datum;29.02.2024;1'
const IMPORTED_HOURS = '756.75 h'

const CALLS = [
  { typed: 'quir', name: 'Quirina Anruferin', balance: '3.5 h' },
  { typed: 'quen', name: 'Quentin Anrufer', balance: '-2.25 h' },
  { typed: 'mehr', name: 'Quitta Mehrfach', balance: '1,234.75 h' },
]

/** The day is as long as several other tests. */
const DAY_MAX_MS = 1_800_000

let service: Service

test.beforeAll(async () => {
  service = await startService()
})

test.afterAll(async () => {
  await service?.stop()
})

interface Member {
  id: number
  name: string
  balance_hours: number
}

async function findMember(page: Page, name: string): Promise<Member> {
  const [member] = await callDemo<Member[]>(page, service, `/members?name=${encodeURIComponent(name)}`)
  return member!
}

test("a coordinator's day, from the morning's import to the members who are to be asked", async ({ page }) => {
  test.setTimeout(DAY_MAX_MS)
  const complaints = complaintsOf(page)
  await signIn(page, service)

  await test.step('a German table with headers of its own brings members and opening balances', async () => {
    await importTable(page, 'Mitglieder 2026.csv', [...GOOD_ROWS, BAD_ROW], async () => {
      await expect(page.getByText(`Opening balances: 6 members, ${IMPORTED_HOURS} in total.`)).toBeVisible()
      await page.getByLabel('Leave the bad rows out and import the others').check()
    })
    await expect(page.getByRole('status').filter({ hasText: 'imported' })).toContainText('9 added')
    expect(await findMember(page, 'Jürgen Weiß')).toMatchObject({ balance_hours: -500 })
    expect(await findMember(page, 'Quitta Mehrfach')).toMatchObject({ balance_hours: 1234.75 })
  })

  await test.step('three calls: half a name finds the person, the balance is read, a new number is noted', async () => {
    for (const [n, { typed, name, balance }] of CALLS.entries()) {
      await openPage(page, service, 'members', 'Members')
      await page.getByRole('textbox', { name: 'Search' }).fill(typed)
      await page.getByRole('link', { name }).click()
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(name)
      await expect(page.getByText(balance, { exact: true }).first()).toBeVisible()
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Phone numbers').fill(`+43 1 234 5${n}, 0664 7`)
      await dialog.getByLabel('Postal address').fill('Ringstraße 1\n1010 Wien')
      await dialog.getByRole('button', { name: 'Save' }).click()
      const link = page.getByRole('link', { name: `+43 1 234 5${n}` })
      await expect(link).toHaveAttribute('href', `tel:+4312345${n}`)
      const { id } = await findMember(page, name)
      expect(await callDemo(page, service, `/members/${id}`)).toMatchObject({ address: 'Ringstraße 1\n1010 Wien' })
    }
  })

  const [gerda, nina, paul] = [
    await findMember(page, 'Gerda Müller'),
    await findMember(page, 'Nina Nehmer'),
    await findMember(page, 'Paul Pleite'),
  ]
  const listing = { member_id: gerda.id, type: 'service', title: 'Hedge cutting', category: 'Garden', hours: 1.5 }
  await callDemo(page, service, '/listings', listing)

  await test.step('eight slips, one below the limit and one entered twice', async () => {
    await openPage(page, service, `members/${gerda.id}`, gerda.name)
    await page.getByRole('link', { name: 'Record an exchange' }).click()
    const first = slip(page, 1)
    await expect(first.getByLabel('Gave time')).toHaveValue(/Gerda Müller/)
    await chooseMember(first, 'Received it', nina.name)
    // The hours come with the listing.
    await first.getByLabel('For').selectOption({ label: 'Hedge cutting' })
    await expect(first.getByLabel('Hours')).toHaveValue('1.5')
    await expect(first).toContainText('0 h → 1.5 h')
    await expect(first).toContainText('20 h → 18.5 h')
    for (let n = 2; n <= 6; n++) await fillSlip(slip(page, n), gerda.name, nina.name, `0.${n}`)
    await expect(slip(page, 2)).toContainText('1.5 h → 1.7 h')
    await slip(page, 2).getByLabel('For').selectOption({ label: 'Garden' })
    await fillSlip(slip(page, 7), gerda.name, paul.name, '18,5')
    await expect(slip(page, 7)).toContainText('0 h → -18.5 h, below')
    await fillSlip(slip(page, 8), gerda.name, nina.name, '0.5')

    const record = page.getByRole('button', { name: 'Record 8 exchanges' })
    await record.click()
    await expect(slip(page, 7)).toContainText('Paul Pleite would fall to -18.5 h')
    await page.getByLabel('Why it is allowed').fill('Agreed on the phone')
    await page.getByRole('button', { name: 'Allow and record' }).click()
    await expect(slip(page, 8)).toContainText('This is the same exchange as slip 5.')
    await slip(page, 8).getByLabel('Hours').fill('0.75')
    await record.click()
    await expect(page.getByText('8 exchanges recorded')).toBeVisible()
    expect(await findMember(page, paul.name)).toMatchObject({ balance_hours: -18.5 })
    const [allowed] = await callDemo<object[]>(page, service, `/transfers?member_id=${paul.id}`)
    expect(allowed).toMatchObject({ limit_reason: 'Agreed on the phone' })
  })

  await test.step('one slip is corrected: it belonged to somebody else', async () => {
    await openPage(page, service, `members/${paul.id}`, paul.name)
    const statement = page.getByRole('table', { name: 'Statement' })
    await expect(statement.getByRole('link', { name: gerda.name })).toBeVisible()
    await statement.getByRole('row').nth(1).getByRole('link').first().click()
    const drawer = page.getByRole('dialog')
    await expect(drawer).toContainText('Agreed on the phone')
    await drawer.getByRole('link', { name: 'Correct it' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Correct an exchange')
    const wrong = slip(page, 1)
    await expect(wrong.getByLabel('Hours')).toHaveValue('18.5')
    await chooseMember(wrong, 'Received it', nina.name)
    await wrong.getByLabel('Hours').fill('2')
    await page.getByRole('button', { name: 'Record the correction' }).click()
    await expect(page.getByText('Say why.')).toBeVisible()
    await page.getByLabel('Why it is corrected').fill('It was Nina, for two hours')
    await page.getByRole('button', { name: 'Record the correction' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Exchanges')
    await expect(page.getByRole('row').nth(1)).toContainText(`${gerda.name} gave time to ${nina.name}`)
    expect(await findMember(page, paul.name)).toMatchObject({ balance_hours: 0 })
  })

  await test.step('the printed statement adds up, in the PDF', async () => {
    await openPage(page, service, `members/${nina.id}`, nina.name)
    await page.getByRole('link', { name: 'Print a statement' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Statement for ${nina.name}`)
    await expect(page.getByText('Balance after')).toBeVisible()
    await page.emulateMedia({ media: 'print' })
    const printed = await textOf(await page.pdf({ format: 'A4' }))
    await page.emulateMedia({ media: 'screen' })
    const hours = (pattern: RegExp) => [...printed.matchAll(pattern)].map(([, value]) => Number(value))
    const [opening] = hours(/Balance before (-?[\d.]+) h/g)
    const [closing] = hours(/Balance after (-?[\d.]+) h/g)
    // Each line ends with the change and the balance after it.
    const changes = hours(/([+-][\d.]+) h -?[\d.]+ h/g)
    expect(changes.toSorted((a, b) => b - a)).toEqual([20, -0.2, -0.3, -0.4, -0.5, -0.6, -0.75, -1.5, -2])
    expect(opening! + changes.reduce((sum, change) => sum + change, 0)).toBeCloseTo(closing!, 10)
    expect(await findMember(page, nina.name)).toMatchObject({ balance_hours: closing })
  })

  await test.step('what needs attention is handled, and then no longer listed', async () => {
    await openPage(page, service, 'overview', 'Overview')
    const attention = page.getByRole('region', { name: 'Needs attention' })
    await expect(attention).toContainText('1 import left rows out')
    await attention.getByRole('link', { name: 'Jürgen Weiß' }).click()
    await page.getByRole('button', { name: 'Adjust the balance' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Hours', { exact: true }).fill('500')
    await dialog.getByLabel('Why').fill('A typing error in the table')
    await dialog.getByRole('button', { name: 'Adjust', exact: true }).click()
    await expect(dialog).toBeHidden()

    await importTable(page, 'Mitglieder 2026.csv', [...GOOD_ROWS, CORRECTED_ROW], async () => {
      await expect(page.getByText('9 unchanged')).toBeVisible()
    })
    await expect(page.getByRole('status').filter({ hasText: 'imported' })).toContainText('1 added')
    await openPage(page, service, 'overview', 'Overview')
    await expect(attention).toContainText('administrator has no second factor')
    await expect(attention).not.toContainText('import left rows out')
    await expect(attention).not.toContainText('Jürgen Weiß')
  })

  await test.step('inactive members are tagged, exported and printed, and the address keeps the filters', async () => {
    await openPage(page, service, 'members', 'Members')
    await page.getByLabel('Exchanges', { exact: true }).selectOption({ label: 'None for 3 months' })
    await page.getByRole('columnheader', { name: 'Last exchange' }).getByRole('button').click()
    await expect(page).toHaveURL(/inactive=3.*sort=last_active_on|sort=last_active_on.*inactive=3/)
    await page.reload()
    const table = page.getByRole('table', { name: 'Members' })
    const inactive = ['Käthe Längst-Weg', 'Zoë Längst-Weg']
    for (const name of inactive) await table.getByRole('checkbox', { name: `Select ${name}` }).check()
    await page.getByRole('button', { name: 'Tag', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Tag').fill('ask in spring')
    await page.getByRole('dialog').getByRole('button', { name: 'Add tag' }).click()
    await expect(table.getByText('ask in spring')).toHaveCount(2)

    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export selected' }).click()
    const file = await readFile(await (await downloading).path(), 'utf8')
    expect(file.trim().split('\r\n')).toHaveLength(3)
    for (const name of inactive) expect(file).toContain(name)
    await page.getByRole('link', { name: 'Print statements' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('2 statements')
    for (const name of inactive)
      await expect(page.getByRole('heading', { name: `Statement for ${name}` })).toBeVisible()

    await openPage(page, service, 'members', 'Members')
    await page.getByLabel('Tag', { exact: true }).selectOption('ask in spring')
    await expect(page.getByText('2 members', { exact: true })).toBeVisible()
  })
  expect(complaints).toEqual([])
})

/** Chooses the file, has its columns recognised, and writes the rows after what the step does with the preview. */
async function importTable(page: Page, name: string, rows: string[], look: () => Promise<void>): Promise<void> {
  await openPage(page, service, 'members/import', 'Import members')
  await page.setInputFiles('input[type=file]', germanTable(name, HEADER, ...rows))
  await page.getByRole('button', { name: 'Check the file' }).click()
  const column = (field: string) => page.getByRole('combobox', { name: field, exact: true })
  await expect(column('Number').locator('option:checked')).toHaveText('Mitgliedsnr')
  await expect(column('Name, part 2').locator('option:checked')).toHaveText('Familienname')
  await column('Opening balance').selectOption('Guthaben')
  await page.getByRole('button', { name: 'Check the rows' }).click()
  await expect(page.getByRole('heading', { name: 'What would happen' })).toBeVisible()
  await look()
  await page.getByRole('button', { name: /^Import \d+ rows?$/ }).click()
}
