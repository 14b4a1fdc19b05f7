// Part of `npm run build`: renders docs/*.md to dist/guides/, which the service serves under /docs/guides/.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked } from 'marked'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOCS = join(ROOT, 'docs')
const PARTS = join(ROOT, 'server', 'guides')
const INDEX = 'README'
/** Folders of docs/ with guides in another language, and the direction in which it is written. */
const TRANSLATIONS = { de: 'ltr', es: 'ltr', fr: 'ltr', ar: 'rtl' }
const TAB_NAMES = { sh: 'curl', ts: 'TypeScript', python: 'Python' }

/** Returns the content of every file, by name. */
export function renderGuides() {
  const names = readdirSync(DOCS)
    .filter((name) => name.endsWith('.md'))
    .map((name) => basename(name, '.md'))
  const read = (name) => readFileSync(join(DOCS, `${name}.md`), 'utf8')
  const groups = readGroups(read(INDEX))
  const template = readFileSync(join(PARTS, 'page.html'), 'utf8')
  const pages = names.map((name) => renderPage(name, read(name), names))
  const write = ({ name, title, content }, language) => {
    const values = { title: escape(title), navigation: navigation(groups, name), content, ...language }
    return [`${name === INDEX ? 'index' : name}.html`, fill(template, values)]
  }
  const files = pages.map((page) => write(page, { lang: 'en', dir: 'ltr' }))
  const translated = Object.entries(TRANSLATIONS).flatMap(([lang, dir]) =>
    readdirSync(join(DOCS, lang))
      .map((file) => basename(file, '.md'))
      .map((name) => write(renderPage(`${name}.${lang}`, read(`${lang}/${name}`), names), { lang, dir })),
  )
  // The search is English, as the frame around every guide is.
  const sections = pages.flatMap((page) => page.sections)
  return Object.fromEntries([...files, ...translated, ['search.json', JSON.stringify(sections)]])
}

/** The guides by reader, in the order of the table on the first page. */
function readGroups(index) {
  const groups = []
  for (const [, reader, , title, name] of index.matchAll(
    /^\| *([^|]*?) *\|([^|]*)\| *\[([^\]]+)\]\(([\w-]+)\.md\) *\|$/gm,
  )) {
    if (reader !== '') groups.push({ reader, guides: [] })
    groups.at(-1).guides.push({ title, name })
  }
  if (groups.length === 0) throw new Error('docs/README.md has no table of guides.')
  return groups
}

function navigation(groups, current) {
  const link = ({ name, title }) =>
    `<li><a href="${name}"${name === current ? ' aria-current="page"' : ''}>${escape(title)}</a></li>`
  return groups
    .map(({ reader, guides }) => `<h2>${capitalize(reader)}</h2>\n<ul>\n${guides.map(link).join('\n')}\n</ul>`)
    .join('\n')
}

function renderPage(name, text, names) {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const title = this.parser.parseInline(tokens)
        const id = anchorOf(plainText(tokens))
        return depth === 1
          ? `<h1>${title}</h1>\n`
          : `<h${depth} id="${id}"><a class="anchor" href="#${id}">${title}</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const label = this.parser.parseInline(tokens)
        // A translation is one folder deeper.
        const target = targetOf(name.includes('.') ? href.replace(/^\.\.\//, '') : href, names)
        // What is not served stays where the reader of a checkout finds it.
        return target === undefined
          ? `<span title="In the repository: ${escape(join('docs', href))}">${label}</span>`
          : `<a href="${escape(target)}">${label}</a>`
      },
      code({ text: code, lang = '' }) {
        const language = lang.split(' ')[0]
        return `<pre class="${escape(language)}" tabindex="0"><code>${escape(code)}</code></pre>\n`
      },
      table(token) {
        const cells = (row, tag) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        // Wide tables scroll on their own, so that the page does not.
        return `<div class="table" tabindex="0"><table>\n<thead><tr>${cells(token.header, 'th')}</tr></thead>\n<tbody>${rows}</tbody>\n</table></div>\n`
      },
    },
  })
  const tokens = marked.lexer(text)
  const title = plainText(tokens.find(({ type }) => type === 'heading').tokens)
  return { name, title, content: renderTabs(marked, tokens), sections: sectionsOf(name, title, tokens) }
}

/** Renders what is between the comments `tabs` and `/tabs` as one tab per program, each with its output. */
function renderTabs(marked, tokens) {
  let html = ''
  let tabs
  for (const token of tokens) {
    const mark = token.type === 'html' ? token.text.trim() : ''
    if (mark === '<!-- tabs -->') tabs = []
    else if (mark === '<!-- /tabs -->') {
      html += `<div class="tabs">\n${tabs.map(tabOf).join('')}</div>\n`
      tabs = undefined
    } else if (tabs === undefined) html += marked.parser([token])
    else if (token.type === 'code' && token.lang in TAB_NAMES)
      tabs.push({ name: TAB_NAMES[token.lang], html: marked.parser([token]) })
    else if (token.type !== 'space') tabs.at(-1).html += marked.parser([token])
  }
  return html
}

function tabOf({ name, html }) {
  return `<section class="tab" data-name="${name}">\n<p class="tab-name">${name}</p>\n${html}</section>\n`
}

/** What the search looks through: one entry per heading. */
function sectionsOf(name, title, tokens) {
  const sections = []
  for (const token of tokens) {
    if (token.type === 'heading') {
      const heading = plainText(token.tokens)
      const place = token.depth === 1 ? '' : `#${anchorOf(heading)}`
      sections.push({ href: (name === INDEX ? './' : name) + place, title, heading, text: '' })
    } else if (token.type !== 'html') sections.at(-1).text += ` ${token.raw.replaceAll(/[`*|#\s]+/g, ' ').trim()}`
  }
  return sections
}

/** Returns undefined for what is in the repository, but not served. */
function targetOf(href, names) {
  if (/^(https?:|#)/.test(href)) return href
  const [, folder, name, anchor = ''] = /^(?:(\w+)\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  if (!names.includes(name)) return undefined
  if (folder in TRANSLATIONS) return `${name}.${folder}${anchor}`
  if (folder !== undefined) return undefined
  return (name === INDEX ? './' : name) + anchor
}

/** As GitHub does it, so that links with an anchor work in both places. */
function anchorOf(title) {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

function plainText(tokens) {
  return tokens.map((token) => (token.tokens ? plainText(token.tokens) : (token.text ?? token.raw))).join('')
}

function fill(template, values) {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => values[name])
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function capitalize(text) {
  return text[0].toUpperCase() + text.slice(1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = join(ROOT, 'dist', 'guides')
  mkdirSync(target, { recursive: true })
  for (const [name, content] of Object.entries(renderGuides())) writeFileSync(join(target, name), content)
  for (const name of ['guides.js', 'style.css']) copyFileSync(join(PARTS, name), join(target, name))
}
