import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

const COMPRESSED = /\.(js|css|json|svg)$/

/**
 * Writes each script and style sheet in the encodings of browsers as well. The service sends these files to anybody who
 * asks, so it must not compress them for each request.
 */
export function compressedAssets(): Plugin {
  return {
    name: 'compressed-assets',
    // Earlier, the bundle does not have the final text of all files.
    writeBundle({ dir }) {
      const names = readdirSync(dir!, { recursive: true, encoding: 'utf8' })
      for (const name of names.filter((it) => COMPRESSED.test(it))) {
        const path = join(dir!, name)
        const text = readFileSync(path)
        writeFileSync(`${path}.br`, brotliCompressSync(text))
        writeFileSync(`${path}.gz`, gzipSync(text))
      }
    },
  }
}
