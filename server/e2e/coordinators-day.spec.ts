import { expect, test, type Page } from '@playwright/test'
import { readFile } from 'node:fs/promises'
import type { Language } from '../src/core/languages.ts'
import { openingReason } from '../src/features/members/opening-reason.ts'
import { isFullVolume } from '../test/volume.ts'
import { callDemo, complaintsOf, openPage, signIn } from './admin.ts'
import { germanTable, textOf } from './office-files.ts'
import { startService, type Service } from './service.ts'
import { chooseMember, fillSlip, slip as slipIn } from './slip.ts'
import { wordsIn, type Words } from './words.ts'

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
const FILE = 'Mitglieder 2026.csv'
/** Their reason is in the language of the community. */
const openings = (language: Language) =>
  `Opening balances: 6 members, 756.75 h in total. Each is recorded as an adjustment with the reason “${openingReason({ language }, FILE)}”.`

const CALLS = [
  { typed: 'quir', name: 'Quirina Anruferin', balance: '3.5 h' },
  { typed: 'quen', name: 'Quentin Anrufer', balance: '-2.25 h' },
  { typed: 'mehr', name: 'Quitta Mehrfach', balance: '1,234.75 h' },
]

/** The day is as long as several other tests. */
const DAY_MAX_MS = 1_800_000

/** A service of its own for each day: the next would find yesterday's members. */
let service: Service

test.beforeEach(async () => {
  service = await startService()
})

test.afterEach(async () => {
  await service?.stop()
})

/** The office works in this language, and so does the community. */
async function openOffice(page: Page, language: Language): Promise<Words> {
  await signIn(page, service)
  await callDemo(page, service, '', { language }, 'PATCH')
  return wordsIn(language)
}

interface Member {
  id: number
  name: string
  balance_hours: number
}

async function findMember(page: Page, name: string): Promise<Member> {
  const [member] = await callDemo<Member[]>(page, service, `/members?name=${encodeURIComponent(name)}`)
  return member!
}

const DAYS: Language[] = isFullVolume ? ['en', 'de', 'ar'] : ['en']
for (const language of DAYS) {
  test(`a coordinator's day in ${language}, from the morning's import to the members who are to be asked`, async ({
    page,
  }) => spendDay(page, language))
}

async function spendDay(page: Page, language: Language): Promise<void> {
  test.setTimeout(DAY_MAX_MS)
  const complaints = complaintsOf(page)
  const words = await openOffice(page, language)
  const { say, see, number } = words
  const slip = (place: number) => slipIn(page, place, see)

  await test.step('a German table with headers of its own brings members and opening balances', async () => {
    await importTable(page, words, { rows: [...GOOD_ROWS, BAD_ROW], imported: 'Import 9 rows' }, async () => {
      await expect(page.getByText(say(openings(language)))).toBeVisible()
      await page.getByLabel(say('Leave the bad rows out and import the others')).check()
    })
    await expect(page.getByRole('status').filter({ hasText: see('The members are imported') })).toContainText(
      see('9 added, 0 changed, 0 unchanged, 1 left out.'),
    )
    expect(await findMember(page, 'Jürgen Weiß')).toMatchObject({ balance_hours: -500 })
    expect(await findMember(page, 'Quitta Mehrfach')).toMatchObject({ balance_hours: 1234.75 })
  })

  await test.step('three calls: half a name finds the person, the balance is read, a new number is noted', async () => {
    for (const [n, { typed, name, balance }] of CALLS.entries()) {
      await openPage(page, service, 'members', say('Members'))
      await page.getByRole('textbox', { name: say('Search') }).fill(typed)
      await page.getByRole('link', { name }).click()
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(name)
      await expect(page.getByText(say(balance), { exact: true }).first()).toBeVisible()
      await page.getByRole('button', { name: say('Edit'), exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(say('Phone numbers')).fill(`+43 1 234 5${n}, 0664 7`)
      await dialog.getByLabel(say('Postal address')).fill('Ringstraße 1\n1010 Wien')
      await dialog.getByRole('button', { name: say('Save') }).click()
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
    await page.getByRole('link', { name: say('Record an exchange') }).click()
    const first = slip(1)
    await expect(first.getByLabel(say('Gave time'))).toHaveValue(/Gerda Müller/)
    await chooseMember(first, 'Received it, and pays', nina.name, say)
    // The hours come with the listing.
    await first.getByLabel(say('For')).selectOption({ label: 'Hedge cutting' })
    await expect(first.getByLabel(say('Hours'))).toHaveValue(number(1.5))
    await expect(first).toContainText(see('0 h → 1.5 h'))
    await expect(first).toContainText(see('20 h → 18.5 h'))
    for (let n = 2; n <= 6; n++) await fillSlip(slip(n), gerda.name, nina.name, `0.${n}`, say)
    await expect(slip(2)).toContainText(see('1.5 h → 1.7 h'))
    await slip(2).getByLabel(say('For')).selectOption({ label: 'Garden' })
    await fillSlip(slip(7), gerda.name, paul.name, '18,5', say)
    await expect(slip(7)).toContainText(see('0 h → -18.5 h, below -10 h'))
    await fillSlip(slip(8), gerda.name, nina.name, '0.5', say)

    const record = page.getByRole('button', { name: say('Record 8 exchanges') })
    await record.click()
    await expect(slip(7)).toContainText(see('Paul Pleite would fall to -18.5 h, below -10 h.'))
    await page.getByLabel(say('Why it is allowed')).fill('Agreed on the phone')
    await page.getByRole('button', { name: say('Allow and record') }).click()
    await expect(slip(8)).toContainText(see('This is the same exchange as slip 5.'))
    await slip(8).getByLabel(say('Hours')).fill('0.75')
    await record.click()
    await expect(page.getByText(say('8 exchanges recorded'))).toBeVisible()
    expect(await findMember(page, paul.name)).toMatchObject({ balance_hours: -18.5 })
    const [allowed] = await callDemo<object[]>(page, service, `/transfers?member_id=${paul.id}`)
    expect(allowed).toMatchObject({ limit_reason: 'Agreed on the phone' })
  })

  await test.step('one slip is corrected: it belonged to somebody else', async () => {
    await openPage(page, service, `members/${paul.id}`, paul.name)
    const statement = page.getByRole('table', { name: say('Statement') })
    await expect(statement.getByRole('link', { name: gerda.name })).toBeVisible()
    await statement.getByRole('row').nth(1).getByRole('link').first().click()
    const drawer = page.getByRole('dialog')
    await expect(drawer).toContainText('Agreed on the phone')
    await drawer.getByRole('link', { name: say('Correct it') }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(say('Correct an exchange'))
    const wrong = slip(1)
    await expect(wrong.getByLabel(say('Hours'))).toHaveValue(number(18.5))
    await chooseMember(wrong, 'Received it, and pays', nina.name, say)
    await wrong.getByLabel(say('Hours')).fill('2')
    await page.getByRole('button', { name: say('Record the correction') }).click()
    await expect(page.getByText(say('Say why.'))).toBeVisible()
    await page.getByLabel(say('Why it is corrected')).fill('It was Nina, for two hours')
    await page.getByRole('button', { name: say('Record the correction') }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(say('Exchanges'))
    await expect(page.getByRole('row').nth(1)).toContainText(see(`${gerda.name} gave time to ${nina.name}`))
    expect(await findMember(page, paul.name)).toMatchObject({ balance_hours: 0 })
  })

  await test.step('the printed statement adds up, in the PDF', async () => {
    await openPage(page, service, `members/${nina.id}`, nina.name)
    await page.getByRole('link', { name: say('Print a statement') }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(see(`Statement for ${nina.name}`))
    await expect(page.getByText(say('Balance after'))).toBeVisible()
    await page.emulateMedia({ media: 'print' })
    const printed = await textOf(await page.pdf({ format: 'A4' }))
    const lines = await page.getByRole('row').allInnerTexts()
    await page.emulateMedia({ media: 'screen' })
    // A PDF holds right-to-left text in the order of the eye.
    if (language !== 'ar') expect(printed).toContain(say('Balance after'))
    const hoursOf = (label: string) => words.numbersIn(lines.find((line) => line.startsWith(say(label)))!)[0]
    const [opening, closing] = [hoursOf('Balance before'), hoursOf('Balance after')]
    // Each line ends with the change and the balance after it.
    const changes = lines.slice(2, -1).map((line) => words.numbersIn(line).at(-2)!)
    expect(changes.toSorted((a, b) => b - a)).toEqual([20, -0.2, -0.3, -0.4, -0.5, -0.6, -0.75, -1.5, -2])
    expect(opening! + changes.reduce((sum, change) => sum + change, 0)).toBeCloseTo(closing!, 10)
    expect(await findMember(page, nina.name)).toMatchObject({ balance_hours: closing })
  })

  await test.step('what needs attention is handled, and then no longer listed', async () => {
    await openPage(page, service, 'overview', say('Overview'))
    const attention = page.getByRole('region', { name: say('Needs attention') })
    await expect(attention).toContainText(say('1 import left rows out'))
    await attention.getByRole('link', { name: 'Jürgen Weiß' }).click()
    await page.getByRole('button', { name: say('Adjust the balance') }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(say('Hours'), { exact: true }).fill('500')
    await dialog.getByLabel(say('Reason')).fill('A typing error in the table')
    await dialog.getByRole('button', { name: say('Adjust'), exact: true }).click()
    await expect(dialog).toBeHidden()

    await importTable(page, words, { rows: [...GOOD_ROWS, CORRECTED_ROW], imported: 'Import 1 row' }, async () => {
      await expect(page.getByText(say('9 unchanged'))).toBeVisible()
    })
    await expect(page.getByRole('status').filter({ hasText: see('The members are imported') })).toContainText(
      see('1 added, 0 changed, 9 unchanged, 0 left out.'),
    )
    await openPage(page, service, 'overview', say('Overview'))
    await expect(attention).toContainText(say('1 administrator has no second factor'))
    await expect(attention).not.toContainText(say('1 import left rows out'))
    await expect(attention).not.toContainText('Jürgen Weiß')
  })

  await test.step('inactive members are tagged, exported and printed, and the address keeps the filters', async () => {
    await openPage(page, service, 'members', say('Members'))
    await page.getByLabel(say('Exchanges'), { exact: true }).selectOption({ label: say('None for 3 months') })
    await page
      .getByRole('columnheader', { name: say('Last exchange') })
      .getByRole('button')
      .click()
    await expect(page).toHaveURL(/inactive=3.*sort=last_active_on|sort=last_active_on.*inactive=3/)
    await page.reload()
    const table = page.getByRole('table', { name: say('Members') })
    const inactive = ['Käthe Längst-Weg', 'Zoë Längst-Weg']
    for (const name of inactive) await table.getByRole('checkbox', { name: see(`Select ${name}`) }).check()
    await page.getByRole('button', { name: say('Tag', 'to give a tag to members'), exact: true }).click()
    await page.getByRole('dialog').getByLabel(say('Tag')).fill('ask in spring')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: say('Add tag') })
      .click()
    await expect(table.getByText('ask in spring')).toHaveCount(2)

    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: say('Export selected') }).click()
    const file = await readFile(await (await downloading).path(), 'utf8')
    expect(file.trim().split('\r\n')).toHaveLength(3)
    for (const name of inactive) expect(file).toContain(name)
    await page.getByRole('link', { name: say('Print statements') }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(say('2 statements'))
    for (const name of inactive)
      await expect(page.getByRole('heading', { name: see(`Statement for ${name}`) })).toBeVisible()

    await openPage(page, service, 'members', say('Members'))
    await page.getByLabel(say('Tag'), { exact: true }).selectOption('ask in spring')
    await expect(page.getByText(say('2 members'), { exact: true })).toBeVisible()
  })
  expect(complaints).toEqual([])
}

if (!isFullVolume) {
  for (const language of ['de', 'ar'] as const) {
    test(`a quarter of an hour in ${language}: a rejected exchange, a corrected one, and the paper`, async ({
      page,
    }) => {
      const complaints = complaintsOf(page)
      const words = await openOffice(page, language)
      const { say, see, number } = words
      const [gerda, nina] = [await addMember(page, 'Gerda Müller'), await addMember(page, 'Nina Nehmer')]
      await openPage(page, service, `members/${gerda.id}`, gerda.name)
      await page.getByRole('link', { name: say('Record an exchange') }).click()
      const only = slipIn(page, 1, see)
      await chooseMember(only, 'Received it, and pays', nina.name, say)
      await only.getByLabel(say('Hours')).fill(number(18.5))
      await expect(only).toContainText(see('0 h → -18.5 h, below -10 h'))
      await page.getByRole('button', { name: say('Record the exchange') }).click()
      await expect(only).toContainText(see('Nina Nehmer would fall to -18.5 h, below -10 h.'))
      await only.getByLabel(say('Hours')).fill(number(1.5))
      await page.getByRole('button', { name: say('Record the exchange') }).click()
      await expect(page.getByText(say('One exchange recorded'))).toBeVisible()
      await openPage(page, service, `members/${nina.id}/statement`, see(`Statement for ${nina.name}`))
      await expect(page.getByRole('row', { name: say('Balance after') })).toContainText(see('-1.5 h'))
      expect(complaints).toEqual([])
    })
  }
}

async function addMember(page: Page, name: string): Promise<Member> {
  return callDemo(page, service, '/members', { name })
}

/** Chooses the file, has its columns recognised, and writes the rows after what the step does with the preview. */
async function importTable(
  page: Page,
  { say, see }: Words,
  { rows, imported }: { rows: string[]; imported: string },
  look: () => Promise<void>,
): Promise<void> {
  await openPage(page, service, 'members/import', say('Import members'))
  await page.setInputFiles('input[type=file]', germanTable(FILE, HEADER, ...rows))
  await page.getByRole('button', { name: say('Check the file') }).click()
  const column = (name: string | RegExp) => page.getByRole('combobox', { name, exact: true })
  await expect(column(say('Number')).locator('option:checked')).toHaveText('Mitgliedsnr')
  await expect(column(see('Name, part 2')).locator('option:checked')).toHaveText('Familienname')
  await column(say('Opening balance')).selectOption('Guthaben')
  await page.getByRole('button', { name: say('Check the rows') }).click()
  await expect(page.getByRole('heading', { name: say('What would happen') })).toBeVisible()
  await look()
  await page.getByRole('button', { name: say(imported), exact: true }).click()
}
