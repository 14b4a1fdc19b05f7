import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { areaOf } from './areas.ts'
import { LANGUAGES, compileCatalogue } from './catalogues.ts'
import { compileMacros, extractMessages, hasMacros } from './extract.ts'

const NEEDED = '/src/language/needed.ts'
const HASH_LENGTH = 8
const MESSAGE_COMPILER = '@lingui/message-utils/compileMessage'
const NO_COMPILER = '\0no-message-compiler'

/**
 * Compiles the macros of Lingui and builds a catalogue per area and language, which the browser loads when a file of
 * the area is loaded. Lingui's own plugin for Vite 8 needs Node 22, and would build one catalogue for all pages.
 */
export function messages(): Plugin {
  let address = 'messages'
  let catalogues = new Map<string, string>()
  return {
    name: 'messages',
    enforce: 'pre',
    async config(_config, { command }) {
      if (command === 'build') {
        catalogues = await compileAll()
        const hash = createHash('sha256').update(JSON.stringify([...catalogues]))
        // One hash for all: a hash per file would put a list of 150 names into the first script.
        address = `assets/messages-${hash.digest('hex').slice(0, HASH_LENGTH)}`
      }
      return { define: { 'import.meta.env.MESSAGES': JSON.stringify(address) } }
    },
    // All messages come compiled; the compiler would add 5 KB (gzip) to the first script.
    resolveId: (source) => (source === MESSAGE_COMPILER ? NO_COMPILER : undefined),
    load: (id) => (id === NO_COMPILER ? 'export const compileMessage = undefined' : undefined),
    async transform(code, id) {
      const [file] = id.split('?')
      if (!file?.includes('/console/src/') || !hasMacros(code)) return undefined
      const compiled = await compileMacros(code, file)
      const need = `import { needMessages } from '${NEEDED}'; needMessages(${JSON.stringify(areaOf(file))});`
      return { code: `${compiled.code}\n${need}`, map: compiled.map as never }
    },
    generateBundle() {
      for (const [name, source] of catalogues) {
        this.emitFile({ type: 'asset', fileName: `${address}/${name}.json`, source })
      }
    },
    configureServer(server) {
      server.middlewares.use(join(server.config.base, address), async (request, response) => {
        const name = new URL(request.url ?? '', 'http://localhost').pathname.slice(1, -'.json'.length)
        const source = (await compileAll()).get(name)
        response.statusCode = source === undefined ? 404 : 200
        response.setHeader('content-type', 'application/json')
        response.end(source)
      })
    },
  }
}

/** `de/overview` → the catalogue as JSON. */
async function compileAll(): Promise<Map<string, string>> {
  const catalogues = new Map<string, string>()
  for (const [area, extracted] of await extractMessages()) {
    for (const language of LANGUAGES) {
      catalogues.set(`${language}/${area}`, await compileCatalogue(language, area, extracted))
    }
  }
  return catalogues
}
