import { expect, test, type Page } from '@playwright/test'
import { join } from 'node:path'
import { LANGUAGES } from '../../console/src/language/languages.ts'
import { isFullVolume } from '../test/volume.ts'
import { chooseOwn, complaintsOf, expectNoSidewaysScrolling, expectNoViolations, openPage, signIn } from './admin.ts'
import { buttonNamed, findPages, isLoaded, OUTSIDE, PAGES, walk, type Visit } from './pages.ts'
import { withService } from './with-service.ts'

/** A folder for pictures of every page in every language, for people to look at. */
const PICTURES = process.env.PAGE_PICTURES
/** To check one of them only. */
const ONLY = process.env.PAGE_LANGUAGE
const isEverything = isFullVolume || PICTURES !== undefined
const EVERYTHING_MAX_MS = 60 * 60_000
const PHONE = { width: 360, height: 900 }
const TABLET = { width: 768, height: 900 }
const LAPTOP = { width: 1440, height: 900 }
const PSEUDO = 'en-XA'
const STORED_AS = 'hourbank-language'
/** English is the language of every-page.spec.ts. */
const TRANSLATIONS = Object.entries(LANGUAGES).filter(([code]) => code !== 'en' && (!ONLY || ONLY === code))

const service = withService()

/** Where the buttons of the dialogs stand among all of their page, which is the same in every language. */
async function findPlaces(page: Page, visits: readonly Visit[]): Promise<Map<string, [place: number, of: number]>> {
  const places = new Map<string, [number, number]>()
  await page.setViewportSize(LAPTOP)
  for (const { path, dialogs } of visits) {
    if (!dialogs) continue
    await openPage(page, service, path)
    await isLoaded(page)
    for (const name of dialogs) {
      const found = await buttonNamed(page, name).evaluate((button): [number, number] => {
        const all = Array.from<unknown>(button.ownerDocument.querySelectorAll('button'))
        return [all.indexOf(button), all.length]
      })
      places.set(`${path} ${name}`, found)
    }
  }
  return places
}

async function startTour(page: Page) {
  await signIn(page, service)
  const visits = [...PAGES, ...(await findPages(page, service, 'demo'))]
  const places = await findPlaces(page, visits)
  const findButton = async ({ path }: Visit, name: string | RegExp) => {
    const [place, of] = places.get(`${path} ${name}`)!
    const buttons = page.locator('button')
    await expect(buttons, `the buttons of ${path}`).toHaveCount(of)
    return buttons.nth(place)
  }
  return { slug: 'demo', visits, findButton }
}

async function takePicture(page: Page, name: string): Promise<void> {
  if (!PICTURES) return
  await page.setViewportSize(LAPTOP)
  const path = join(PICTURES, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.png`)
  const fullPage = (await page.getByRole('dialog').count()) === 0
  await page.screenshot({ path, animations: 'disabled', fullPage })
}

/** The language and the direction that a reader, a screen reader or a printer gets for the page or its dialog. */
const SPOKEN = `(() => {
  const shown = document.querySelector('[role=dialog]') ?? document.querySelector('main')
  return { lang: shown.closest('[lang]').lang, dir: getComputedStyle(shown).direction }
})()`

for (const [lang, { dir }] of TRANSLATIONS) {
  const what = isEverything ? 'every page and dialog' : 'the overview'
  test(`${what} is accessible and says that it is ${lang}, also in print`, async ({ page }) => {
    if (isEverything) test.setTimeout(EVERYTHING_MAX_MS)
    const complaints = complaintsOf(page)
    const look = async (name: string) => {
      for (const media of ['print', 'screen'] as const) {
        await page.emulateMedia({ media, colorScheme: 'light' })
        expect(await page.evaluate(SPOKEN), `${name}, ${media}`).toEqual({ lang, dir })
      }
      await takePicture(page, `${lang} ${name}`)
      for (const size of [LAPTOP, TABLET, PHONE]) {
        await page.setViewportSize(size)
        await expectNoSidewaysScrolling(page)
      }
      if (!PICTURES) await expectNoViolations(page, ['light'])
    }
    const tour = isEverything ? await startTour(page) : { slug: 'demo', visits: PAGES.slice(0, 1) }
    await signIn(page, service)
    await chooseOwn(page, service, lang)
    await walk(page, service, { ...tour, look })
    await chooseOwn(page, service, null)
    expect(complaints).toEqual([])
  })
}

test('with texts 40 % longer no text is left untranslated, and no page scrolls sideways', async ({ page }) => {
  if (isEverything) test.setTimeout(EVERYTHING_MAX_MS)
  const sent = sentBy(page)
  const tour = await startTour(page)
  await page.addInitScript(`localStorage.setItem('${STORED_AS}', '${PSEUDO}')`)
  const look = async (name: string) => {
    // What the service sent may be read a moment after it is shown.
    await expect.poll(() => findPlain(page, sent), { message: name }).toEqual([])
    await takePicture(page, `${PSEUDO} ${name}`)
    await page.setViewportSize(PHONE)
    await expectNoSidewaysScrolling(page)
  }
  const withoutDialogs = tour.visits.map(({ path }) => ({ path }))
  await walk(page, service, { ...tour, visits: isEverything ? tour.visits : withoutDialogs, look })
  await page.context().clearCookies()
  for (const path of OUTSIDE.signedOut) {
    await page.goto(`${service.url}/console/${path}`)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await isLoaded(page)
    await look(path)
  }
})

/** An address of the web may be shown by its host, and one of mail may break behind its @. */
const shownAs = (value: string) => [
  value,
  ...(URL.canParse(value) ? [new URL(value).host] : []),
  ...value.split(/(?<=@)/),
]

/** Every text that the service sent to the page, apart from sentences for people: these are the console's to say. */
function sentBy(page: Page): Set<string> {
  const sent = new Set<string>()
  const keep = (value: unknown): void => {
    if (typeof value === 'string') for (const text of shownAs(value)) sent.add(text)
    else if (value !== null && typeof value === 'object')
      for (const [key, part] of Object.entries(value)) if (key !== 'message') keep(part)
  }
  page.on('response', async (response) => {
    if (response.headers()['content-type']?.includes('json')) keep(await response.json().catch(() => undefined))
  })
  return sent
}

/** Texts and names of elements, without those of another language, of code, of times, and of what is not shown. */
const TEXTS = `(() => {
  const texts = []
  const skipped = 'script, style, code, pre, time, [aria-hidden=true], [lang]:not(html)'
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const { parentElement: parent, textContent } = walker.currentNode
    if (!parent.closest(skipped) && parent.checkVisibility()) texts.push(textContent.trim())
  }
  for (const name of ['aria-label', 'placeholder', 'title', 'alt'])
    for (const element of document.querySelectorAll('[' + name + ']'))
      if (!element.closest(skipped)) texts.push(element.getAttribute(name).trim())
  return texts
})()`

/** A word of three letters or more with a vowel that the disguise would have changed; not a part of a code. */
const PLAIN_WORD = /(?<![\p{L}_])(?=[A-Za-z]*[AEIOUaeiou])[A-Za-z]{3,}(?![\p{L}_])/u
/** The same in every language. */
const NAMES = /\b(Hourbank|IBAN)\b|https:\S+/g
const DATES = /\b(Mon|Tues?|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\b/g

async function findPlain(page: Page, sent: ReadonlySet<string>): Promise<string[]> {
  const texts = await page.evaluate<string[]>(TEXTS)
  const data = [...sent].filter((text) => text.length > 1).toSorted((one, other) => other.length - one.length)
  const withoutData = (text: string) => data.reduce((rest, value) => rest.replaceAll(value, ' '), text)
  return texts.filter(
    (text) => PLAIN_WORD.test(text) && PLAIN_WORD.test(withoutData(text).replaceAll(DATES, '').replaceAll(NAMES, '')),
  )
}
