import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Config } from '../../config.ts'
import { ApiError } from '../shared/errors.ts'
import { sendError } from '../shared/send-error.ts'
import { answerNotModified } from './etag.ts'

export const GUIDES_PREFIX = '/docs/guides'
const GUIDES_DIR = new URL('../../../../dist/guides/', import.meta.url)
/** In docs/webhooks.md; replaced when the page is read. */
const SOURCES_MARK = '<!-- webhook-source-addresses -->'
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
}

/** The guides: pages that the build made of docs/*.md, with a strict content security policy. */
export async function guideRoutes(app: FastifyInstance, config: Config): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        connectSrc: ["'self'"],
        imgSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    // HSTS applies to the whole host, so it is up to the reverse proxy.
    strictTransportSecurity: false,
  })
  app.addHook('onSend', answerNotModified)
  app.setNotFoundHandler((request, reply) => sendError(new ApiError('not_found'), request, reply))

  app.get('', { schema: { hide: true } }, async (_request, reply) => reply.redirect(`${GUIDES_PREFIX}/`))
  for (const name of await listFiles()) {
    const type = TYPES[extname(name)]
    if (!type) continue
    const text = withSources(await readFile(new URL(name, GUIDES_DIR), 'utf8'), config.webhookSourceAddresses)
    // Without the slash, the links of the first page would lead elsewhere.
    app.get(pathOf(name), { schema: { hide: true }, prefixTrailingSlash: 'slash' }, async (_request, reply) =>
      reply.type(type).header('cache-control', 'no-cache').send(text),
    )
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
