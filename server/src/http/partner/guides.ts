import type { FastifyInstance } from 'fastify'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Config } from '../../config.ts'
import { PROJECT } from '../../core/project.ts'
import { prepareStaticPages, serveText } from './static-pages.ts'

export const GUIDES_PREFIX = '/docs/guides'
const GUIDES_DIR = new URL('dist/guides/', PROJECT)
/** In docs/webhooks.md; replaced when the page is read. */
const SOURCES_MARK = '<!-- webhook-source-addresses -->'
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
}

/** The guides: pages that the build made of docs/*.md. */
export async function guideRoutes(app: FastifyInstance, config: Config): Promise<void> {
  await prepareStaticPages(app)
  app.get('', { schema: { hide: true } }, async (_request, reply) => reply.redirect(`${GUIDES_PREFIX}/`))
  for (const name of await listFiles()) {
    const type = TYPES[extname(name)]
    if (!type) continue
    const text = withSources(await readFile(new URL(name, GUIDES_DIR), 'utf8'), config.webhookSourceAddresses)
    serveText(app, pathOf(name), type, () => text)
  }
}

/** None where only the sources are, as in most tests. */
async function listFiles(): Promise<string[]> {
  return readdir(GUIDES_DIR).catch(() => [])
}

/** Pages have no extension, so that links between them are the same wherever they are read. */
function pathOf(name: string): string {
  return name === 'index.html' ? '/' : `/${name.replace(/\.html$/, '')}`
}

/** Addresses are checked by the configuration, so they contain nothing to escape. */
function withSources(page: string, addresses: readonly string[]): string {
  const list = addresses.map((address) => `<li><code>${address}</code></li>`).join('')
  const text =
    addresses.length === 0
      ? '<p>The operator of this service has not listed its addresses.</p>'
      : `<p>Deliveries of this service come from:</p><ul>${list}</ul>`
  return page.replace(SOURCES_MARK, text)
}
