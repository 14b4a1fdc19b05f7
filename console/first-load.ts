import { gzipSync } from 'node:zlib'
import type { Plugin, Rolldown } from 'vite'

const FIRST_LOAD_BYTES_MAX = 200 * 1024

/** Where people arrive: nothing of it is in the browser's cache yet. */
const ARRIVALS = new Set(['sign-in', 'overview'])

/**
 * Fails the build when the scripts of a page on which people arrive grow past the limit, and warns about other pages.
 * Charts and the search are loaded later and do not count.
 */
export function firstLoadLimit(): Plugin {
  return {
    name: 'first-load-limit',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const entry = chunks.find((chunk) => chunk.isEntry)
      if (!entry) return
      const pages = chunks.filter((chunk) => chunk.isDynamicEntry && chunk.facadeModuleId?.includes('/src/pages/'))
      for (const page of pages) {
        const size = sizeOf(reach(page, bundle, reach(entry, bundle)), bundle)
        const text = `${page.name}: ${kilobytes(size)} of scripts (gzip)`
        if (size <= FIRST_LOAD_BYTES_MAX) this.info(text)
        else if (ARRIVALS.has(page.name)) this.error(`${text}, above the limit`)
        else this.warn(`${text}, above the limit`)
      }
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

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}
