import { expect, test } from 'vitest'
import { renderGuides } from '../../scripts/build-guides.mjs'
import { LANGUAGES } from '../src/core/languages.ts'
import { readGuides } from './guide-blocks.ts'

const files = renderGuides()
const pages = Object.entries(files).filter(([name]) => name.endsWith('.html'))
/** `administrators.de.html` is a translation. */
const english = pages.filter(([name]) => name.split('.').length === 2)
const outlineOf = (html: string) => html.match(/<h[123]\b/g)
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)
const fileOf = (path: string) => (path === './' ? 'index.html' : `${path}.html`)

test('every guide has a page, and every page leads to every guide', () => {
  const guides = readGuides().filter(({ path }) => path.startsWith('docs/'))
  expect(english).toHaveLength(guides.length)
  for (const [name, html] of pages) {
    const navigation = html.slice(html.indexOf('<nav aria-label="Guides">'))
    for (const [other] of english) {
      if (other !== 'index.html') expect(navigation, name).toContain(`href="${other.replace('.html', '')}"`)
    }
  }
})

test.each(LANGUAGES.filter((language) => language !== 'en'))(
  'the guide for administrators has the same sections in %s, and says in which language it is',
  (language) => {
    const translated = files[`administrators.${language}.html`]!
    expect(outlineOf(translated)).toEqual(outlineOf(files['administrators.html']!))
    expect(translated).toContain(
      `<main id="content" tabindex="-1" lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`,
    )
  },
)

test('every link of a page to another leads there, and its anchor exists', () => {
  for (const [name, html] of pages) {
    for (const [, link] of html.matchAll(/ href="([^"]+)"/g)) {
      if (/^(https?:|\/)/.test(link!)) continue
      const [path, anchor] = link!.split('#') as [string, string?]
      const target = path === '' ? html : files[fileOf(path)]
      expect(target, `${name}: ${link}`).toBeDefined()
      if (anchor !== undefined) expect(idsOf(target!), `${name}: ${link}`).toContain(anchor)
    }
  }
})

test('no page has two elements with the same id', () => {
  for (const [name, html] of pages) expect(new Set(idsOf(html)).size, name).toBe(idsOf(html).length)
})

test('what stands side by side has one tab per language, in the same order everywhere', () => {
  const groups = pages.flatMap(([, html]) => html.match(/<div class="tabs">.*?<\/section>\n<\/div>/gs) ?? [])
  expect(groups.length).toBeGreaterThan(0)
  const order = ['curl', 'TypeScript', 'Python']
  for (const group of groups) {
    const names = [...group.matchAll(/data-name="([^"]+)"/g)].map(([, name]) => name!)
    expect(names).toEqual(order.filter((name) => names.includes(name)))
    expect(names.length).toBeGreaterThan(1)
  }
})

test('everything that the search finds is a place in a page', () => {
  const sections = JSON.parse(files['search.json']!) as { href: string; heading: string; text: string }[]
  expect(sections.some(({ heading, text }) => heading === 'Retries' && text.includes('5 seconds'))).toBe(true)
  for (const { href } of sections) {
    const [path, anchor] = href.split('#') as [string, string?]
    const target = files[fileOf(path)]!
    if (anchor !== undefined) expect(idsOf(target), href).toContain(anchor)
  }
})
