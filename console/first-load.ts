import { gzipSync } from 'node:zlib'
import type { Plugin, Rolldown } from 'vite'

const FIRST_LOAD_BYTES_MAX = 200 * 1024

/**
 * Fails the build when the scripts that a page needs before it can be shown grow past the limit. What is loaded later,
 * such as charts, the search and large dialogs, does not count.
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
      for (const page of pages) {
        const size = sizeOf(reach(page, bundle, new Set(first)), bundle)
        const text = `${page.name}: ${kilobytes(size)} of scripts (gzip)`
        if (size <= FIRST_LOAD_BYTES_MAX) this.info(text)
        else this.error(`${text}, above the limit of ${kilobytes(FIRST_LOAD_BYTES_MAX)}`)
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
