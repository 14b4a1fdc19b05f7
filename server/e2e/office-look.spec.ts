import { expect, test, type Locator, type Page } from '@playwright/test'
import { chooseOwn, holdAnswers, openPage } from './admin.ts'
import { buttonNamed, findPages, isLoaded, makeCommunity } from './pages.ts'
import { withSignedInService } from './with-service.ts'

const PHONE = { width: 360, height: 640 }

const service = withSignedInService()

const loading = (page: Page, what: string) => page.getByRole('status', { name: `Loading: ${what}`, exact: true })

test('a page says that it is loading until each of its parts is there', async ({ page }) => {
  const visits = await findPages(page, service, 'demo')
  const pathOf = (folder: string) => visits.find(({ path }) => path.startsWith(folder))!.path
  const release = await holdAnswers(
    page,
    /\/api\/admin\/.*\/(sessions|second-factor|alert-choices|alerts\/open|partner-api|webhooks\/\d+|partners\/\d+)$/,
  )
  for (const [path, parts] of [
    [pathOf('webhooks/'), ['Webhook']],
    [pathOf('partners/'), ['Partner']],
    ['partners', ['Access for all partners']],
    ['alerts', ['Open alerts']],
  ] as const) {
    await openPage(page, service, path)
    for (const part of parts) await expect(loading(page, part)).toBeVisible()
  }
  await page.goto(`${service.url}/console/account`)
  for (const part of ['Sessions', 'Second factor', 'Alerts']) await expect(loading(page, part)).toBeVisible()
  release()
  await isLoaded(page)
  await expect(page.getByRole('button', { name: 'Add a passkey' })).toBeVisible()
})

/** Whether the whole element is within the window. */
async function expectWithinWindow(page: Page, element: Locator): Promise<void> {
  const { width, height } = page.viewportSize()!
  await expect(async () => {
    const box = (await element.boundingBox())!
    expect(box.x).toBeGreaterThanOrEqual(0)
    expect(box.y).toBeGreaterThanOrEqual(0)
    expect(box.x + box.width).toBeLessThanOrEqual(width)
    expect(box.y + box.height).toBeLessThanOrEqual(height)
  }).toPass()
}

test('on a phone the active tab of the settings is in view', async ({ page }) => {
  await page.setViewportSize(PHONE)
  for (const part of ['general', 'categories', 'administrators', 'partners']) {
    await openPage(page, service, `community?part=${part}`, 'Settings')
    await expectWithinWindow(page, page.getByRole('tab', { selected: true }))
  }
})

test('the buttons of a long dialog are in view before and after scrolling', async ({ page }) => {
  for (const viewport of [PHONE, { width: 1280, height: 640 }]) {
    await page.setViewportSize(viewport)
    await openPage(page, service, 'partners', 'Partners')
    await isLoaded(page)
    await page.getByRole('button', { name: 'Add partner' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a partner' })
    const submit = dialog.getByRole('button', { name: 'Add partner' })
    await expectWithinWindow(page, submit)
    await dialog.getByLabel('Allowed addresses').scrollIntoViewIfNeeded()
    await expectWithinWindow(page, submit)
    await expectWithinWindow(page, dialog.getByLabel('Allowed addresses'))
  }
})

test('in German a subtitle is directly below its title, beside or above buttons that show their whole text', async ({
  page,
}) => {
  const visits = await findPages(page, service, 'demo')
  await chooseOwn(page, service, 'de')
  await openPage(page, service, visits.find(({ path }) => path.startsWith('webhooks/'))!.path)
  await isLoaded(page)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const buttons = ['Fehlgeschlagenes erneut senden …', 'Erneut senden ab …', 'Anhalten', 'Testereignis senden'].map(
    button,
  )
  const badge = page.getByRole('main').getByText('Schlägt fehl', { exact: true }).first()
  const subtitle = page.getByText('Gesendet an receiver.example')
  for (const width of [1440, 1100, 768, 360]) {
    await page.setViewportSize({ width, height: 900 })
    await expect(async () => {
      const [above, below] = [(await badge.boundingBox())!, (await subtitle.boundingBox())!]
      expect(below.y - (above.y + above.height), `${width}`).toBeLessThan(16)
      for (const one of buttons) {
        const isCut = await one
          .locator('*')
          .evaluateAll((parts) => parts.some((part) => part.scrollWidth > part.clientWidth + 1))
        expect(isCut, `${width}: ${await one.textContent()}`).toBe(false)
      }
      // Beside the title where there is room, and at the end of the row.
      if (width < 640) return
      const [last, main] = [
        (await buttons.at(-1)!.boundingBox())!,
        (await page.locator('main section').first().boundingBox())!,
      ]
      expect(Math.abs(last.x + last.width - (main.x + main.width)), `${width}`).toBeLessThan(2)
    }).toPass()
  }
  await chooseOwn(page, service, null)
})

test('the email addresses and roles of administrators are in one piece', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await chooseOwn(page, service, 'de')
  await openPage(page, service, 'community?part=administrators')
  await isLoaded(page)
  for (const text of ['admin@demo.example', 'Inhaber:in']) {
    const lines = await page.getByRole('cell', { name: text, exact: true }).evaluate((cell) => {
      const range = cell.ownerDocument.createRange()
      range.selectNodeContents(cell)
      return range.getClientRects().length
    })
    expect(lines, text).toBe(1)
  }
  await chooseOwn(page, service, null)
})

/** The choices and hints within fields that have too little room for their words. */
const CUT_WORDS = `(() => {
  const pen = document.createElement('canvas').getContext('2d')
  return [...document.querySelectorAll('main [role=search] :is(select, input[placeholder])')].flatMap((field) => {
    const style = getComputedStyle(field)
    const words = field.placeholder ?? field.selectedOptions[0].text
    pen.font = style.font
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
    return pen.measureText(words).width > room ? [words] : []
  })
})()`

test('filters have room for the words that they show at first', async ({ page }) => {
  for (const language of ['en', 'de', 'ar']) {
    await chooseOwn(page, service, language)
    for (const path of ['members', 'exchanges', 'calls?view=chart', 'audit']) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await openPage(page, service, path)
      await isLoaded(page)
      for (const width of [1440, 1100, 768]) {
        await page.setViewportSize({ width, height: 900 })
        await expect.poll(() => page.evaluate(CUT_WORDS), `${language}, ${path}, ${width}`).toEqual([])
      }
    }
  }
  await chooseOwn(page, service, null)
})

const RING_TOP = `(() => {
  const { outlineWidth, outlineOffset } = getComputedStyle(document.activeElement)
  return document.activeElement.getBoundingClientRect().top - parseFloat(outlineWidth) - parseFloat(outlineOffset)
})()`

test('between a label and the ring of its field there is a gap', async ({ page }) => {
  await openPage(page, service, 'members', 'Members')
  const field = page.getByRole('textbox', { name: 'Search' })
  await field.focus()
  const label = (await page.locator('label', { hasText: 'Search' }).boundingBox())!
  const ring = (await page.evaluate(RING_TOP)) as number
  expect(ring - (label.y + label.height)).toBeGreaterThanOrEqual(2)
})

test('several statements are printed once all of them are there, each on a new page', async ({ page }) => {
  const hint = page.getByText('Each begins on a new page.')
  const print = page.getByRole('button', { name: 'Print' })
  const release = await holdAnswers(page, /members\/2\/statement\/by-service/)
  await openPage(page, service, 'members/statements?ids=1,2', '2 statements')
  await expect(hint).toBeVisible()
  await expect(page.locator('[data-ready]')).toHaveCount(1)
  await expect(print).toBeDisabled()
  release()
  await expect(print).toBeEnabled()
  await openPage(page, service, 'members/statements?ids=1', 'One statement')
  await expect(hint).toHaveCount(0)
})

test('on a wide screen the buttons of a row show their whole text in one line', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const visits = await findPages(page, service, 'demo')
  const partner = visits.find(({ path }) => path.startsWith('partners/'))!.path
  for (const path of ['community?part=administrators', partner]) {
    await openPage(page, service, path)
    await isLoaded(page)
    const buttons = page.getByRole('table').first().getByRole('button')
    await expect(buttons).toHaveCount(3)
    const misplaced = () =>
      buttons.evaluateAll((all) => {
        const { top } = all[0]!.getBoundingClientRect()
        const isCut = (part: (typeof all)[0]) => part.scrollWidth > part.clientWidth + 1
        return all
          .filter((one) => one.getBoundingClientRect().top !== top || [one, ...one.querySelectorAll('*')].some(isCut))
          .map((one) => one.textContent)
      })
    await expect.poll(misplaced).toEqual([])
  }
})

test('the chart of calls names the time that it shows', async ({ page }) => {
  await openPage(page, service, 'calls?view=chart', 'Calls')
  const when = page.getByLabel('When')
  await expect(when.locator('option:checked')).toHaveText('Last 24 hours')
  await expect(when.getByRole('option', { name: 'Last 24 hours' })).toHaveCount(1)
  await openPage(page, service, 'calls?view=chart&period=24h', 'Calls')
  await expect(when.locator('option:checked')).toHaveText('Last 24 hours')
  await openPage(page, service, 'calls?view=errors', 'Calls')
  await expect(when.locator('option:checked')).toHaveText('At any time')
})

test('in an empty community, forms that cannot be completed say what to add first', async ({ page }) => {
  const slug = await makeCommunity(service, 0)
  for (const { path, button, first, link } of [
    { path: 'listings', button: 'Add listing', first: 'Add a member first', link: 'Go to members' },
    { path: 'exchanges', button: 'Adjust a balance', first: 'Add a member first', link: 'Go to members' },
    { path: 'webhooks', button: 'Add webhook', first: 'Add a partner first', link: 'Go to partners' },
  ]) {
    await openPage(page, service, path, undefined, slug)
    await isLoaded(page)
    await buttonNamed(page, button).click()
    const dialog = page.getByRole('dialog')
    await expect(dialog.getByText(first)).toBeVisible()
    await expect(dialog.getByRole('textbox')).toHaveCount(0)
    await expect(dialog.getByRole('link', { name: link })).toBeVisible()
  }
  await openPage(page, service, 'exchanges/record', 'Record exchanges', slug)
  await expect(page.getByText('Add at least two members first')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Record the exchange' })).toHaveCount(0)
})

test('without mail, the page for a forgotten password says who can reset it', async ({ page }) => {
  await page.context().clearCookies()
  await page.goto(`${service.url}/console/forgotten-password`)
  await expect(page.getByText('The operator of the service can reset it')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Send the link' })).toHaveCount(0)
})
