import { gzipSync } from 'node:zlib'
import type { Plugin, Rolldown } from 'vite'
import { SHARED_AREA, areaOf } from './messages/areas.ts'

const FIRST_LOAD_BYTES_MAX = 170 * 1024
const CATALOGUE = /^assets\/messages-[^/]+\/([^/]+)\/(.+)\.json$/
/** Letters with accents make it larger than any language that somebody reads. */
const PSEUDO = 'en-XA'

/**
 * Fails the build when the scripts that a page needs before it can be shown grow past the limit. What is loaded later,
 * such as charts, the search and large dialogs, does not count. The messages of a page are reported beside them.
 */
export function firstLoadLimit(): Plugin {
  return {
    name: 'first-load-limit',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const entry = chunks.find((chunk) => chunk.isEntry)
      if (!entry) return
      const first = reach(entry, bundle)
      // The router, which is part of the entry, loads the pages; what a page itself loads later is not a page.
      const routed = new Set(
        chunks.filter((chunk) => first.has(chunk.fileName)).flatMap((chunk) => chunk.dynamicImports),
      )
      const pages = chunks.filter(
        (chunk) => routed.has(chunk.fileName) && chunk.facadeModuleId?.includes('/src/pages/'),
      )
      const sizes = pages.map((page) => ({
        name: page.name,
        bytes: sizeOf(reach(page, bundle, new Set(first)), bundle),
        messages: messagesOf(reach(page, bundle, new Set(first)), bundle),
      }))
      for (const { name, bytes, messages } of sizes) {
        this.info(`${name}: ${kilobytes(bytes)} of scripts, ${kilobytes(messages)} of messages (gzip)`)
      }
      const tooLarge = sizes.filter(({ bytes }) => bytes > FIRST_LOAD_BYTES_MAX)
      if (tooLarge.length === 0) return
      const list = tooLarge.map(({ name, bytes }) => `${name} ${kilobytes(bytes)}`).join(', ')
      this.error(`Above the limit of ${kilobytes(FIRST_LOAD_BYTES_MAX)} of scripts (gzip): ${list}.`)
    },
  }
}

/** A chunk and everything it imports at once. */
function reach(chunk: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle, found = new Set<string>()): Set<string> {
  if (found.has(chunk.fileName)) return found
  found.add(chunk.fileName)
  for (const name of chunk.imports) {
    const imported = bundle[name]
    if (imported?.type === 'chunk') reach(imported, bundle, found)
  }
  return found
}

function sizeOf(names: Set<string>, bundle: Rolldown.OutputBundle): number {
  return [...names].reduce((sum, name) => {
    const file = bundle[name]
    return file?.type === 'chunk' ? sum + gzipSync(file.code).length : sum
  }, 0)
}

/** The catalogues of all areas that these scripts belong to, in the language in which they are largest. */
function messagesOf(names: Set<string>, bundle: Rolldown.OutputBundle): number {
  const areas = new Set([SHARED_AREA])
  for (const name of names) {
    const file = bundle[name]
    if (file?.type !== 'chunk') continue
    for (const [id, { code }] of Object.entries(file.modules))
      if (code?.includes('needMessages(')) areas.add(areaOf(id))
  }
  const languages = new Map<string, number>()
  for (const [name, file] of Object.entries(bundle)) {
    const [, language = '', area = ''] = CATALOGUE.exec(name) ?? []
    if (file.type !== 'asset' || !areas.has(area) || language === PSEUDO) continue
    languages.set(language, (languages.get(language) ?? 0) + gzipSync(file.source).length)
  }
  return Math.max(0, ...languages.values())
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}
