// Runs in the browser as it is, without a build step. Without it, the guides can be read, with all languages below each other.
const CHOICE = 'hourbank-guides-language'
const RESULTS_MAX = 10

const groups = [...document.querySelectorAll('.tabs')].map(makeTabs)
choose(localStorage.getItem(CHOICE))
startSearch()

/** Turns sections below each other into tabs (ARIA Authoring Practices: tabs, selected by arrow keys). */
function makeTabs(group, number) {
  const panels = [...group.querySelectorAll('.tab')]
  const list = document.createElement('div')
  list.setAttribute('role', 'tablist')
  list.setAttribute('aria-label', 'Language')
  const tabs = panels.map((panel, n) => {
    const name = panel.dataset.name
    const tab = document.createElement('button')
    Object.assign(tab, { type: 'button', id: `tab-${number}-${n}`, textContent: name })
    tab.setAttribute('role', 'tab')
    tab.setAttribute('aria-controls', `panel-${number}-${n}`)
    panel.id = `panel-${number}-${n}`
    panel.setAttribute('role', 'tabpanel')
    panel.setAttribute('aria-labelledby', tab.id)
    panel.querySelector('.tab-name').remove()
    tab.addEventListener('click', () => chooseHere(tab, name))
    return tab
  })
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key]
    if (!step) return
    const at = tabs.indexOf(document.activeElement)
    const next = tabs[(at + step + tabs.length) % tabs.length]
    chooseHere(next, next.textContent)
    next.focus()
  })
  list.append(...tabs)
  group.prepend(list)
  return { tabs, panels }
}

/** Shows the language everywhere, and keeps the clicked tab where it is on the screen. */
function chooseHere(tab, name) {
  const before = tab.getBoundingClientRect().top
  localStorage.setItem(CHOICE, name)
  choose(name)
  scrollBy(0, tab.getBoundingClientRect().top - before)
}

/** A group without the language shows its first. */
function choose(name) {
  for (const { tabs, panels } of groups) {
    const chosen = Math.max(
      0,
      tabs.findIndex((tab) => tab.textContent === name),
    )
    for (const [n, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(n === chosen))
      tab.tabIndex = n === chosen ? 0 : -1
      panels[n].hidden = n !== chosen
    }
  }
}

function startSearch() {
  const input = document.getElementById('search')
  const found = document.getElementById('found')
  const results = document.getElementById('results')
  let sections
  input.closest('search').hidden = false
  input.addEventListener('input', async () => {
    sections ??= fetch('/docs/guides/search.json').then((response) => response.json())
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
    let hits
    try {
      hits = words.length === 0 ? [] : rank(await sections, words)
    } catch {
      sections = undefined
      found.textContent = 'The search could not be loaded.'
      return
    }
    results.replaceChildren(...hits.slice(0, RESULTS_MAX).map(toItem))
    found.textContent = words.length === 0 ? '' : hits.length === 0 ? 'Nothing found' : `${hits.length} found`
  })
}

/** Sections with all words, those with a word in their heading first. */
function rank(sections, words) {
  const scored = sections.map((section) => {
    const heading = `${section.title} ${section.heading}`.toLowerCase()
    const text = section.text.toLowerCase()
    const isHit = words.every((word) => heading.includes(word) || text.includes(word))
    return { section, score: isHit ? 1 + words.filter((word) => heading.includes(word)).length : 0 }
  })
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ section }) => section)
}

function toItem({ href, title, heading }) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = href
  link.textContent = heading === title ? title : `${title}: ${heading}`
  item.append(link)
  return item
}
