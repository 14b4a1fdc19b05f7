import type { FastifyInstance } from 'fastify'
import { readFile, readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { PROJECT } from '../../core/project.ts'
import { bestEncoding, encodeOnce } from '../shared/encoding.ts'
import { answerNotModified } from './etag.ts'
import { sdkPackages } from './sdk-packages.ts'
import { prepareStaticPages, serveText } from './static-pages.ts'

const REFERENCE_PREFIX = '/docs'
const PAGE_FILES = new URL('server/reference/', PROJECT)
const JAVASCRIPT = 'text/javascript; charset=utf-8'
const YEAR_SECONDS = 365 * 24 * 60 * 60

/** The API reference: our own page around Scalar, with no external resources. */
export async function referenceRoutes(app: FastifyInstance): Promise<void> {
  await app.register(async (plain) => {
    plain.addHook('onSend', answerNotModified)
    serveText(plain, '/openapi.json', 'application/json; charset=utf-8', () => JSON.stringify(app.swagger()))
  })
  app.get(REFERENCE_PREFIX, { schema: { hide: true } }, async (_request, reply) =>
    reply.redirect(`${REFERENCE_PREFIX}/`),
  )
  await app.register(referencePage, { prefix: REFERENCE_PREFIX })
}

async function referencePage(app: FastifyInstance): Promise<void> {
  await prepareStaticPages(app, {
    // Scalar adds style elements and attributes at run time, which nonces and hashes do not fully cover.
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'"],
  })

  const scalarName = await findScalar()
  // Read on the first request and cached compressed, so it costs nothing if nobody opens the page.
  const scalarScript = encodeOnce(async () => promisify(brotliDecompress)(await readScalar(scalarName)))
  app.get(`/${scalarName}`, { schema: { hide: true }, compress: false }, async (request, reply) => {
    const encoding = bestEncoding(request.headers['accept-encoding'])
    reply.entityTag = `"${scalarName}"`
    reply.headers({ 'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`, vary: 'accept-encoding' })
    if (encoding !== 'identity') reply.header('content-encoding', encoding)
    return reply.type(JAVASCRIPT).send(await (encoding === 'br' ? readScalar(scalarName) : scalarScript(encoding)))
  })
  const page = (await readPageFile('index.html')).replace('{{scalar}}', `${REFERENCE_PREFIX}/${scalarName}`)
  const [script, style] = [await readPageFile('start.js'), await readPageFile('style.css')]
  serveText(app, '/', 'text/html; charset=utf-8', () => page)
  serveText(app, '/start.js', JAVASCRIPT, () => script)
  serveText(app, '/style.css', 'text/css; charset=utf-8', () => style)
  await sdkPackages(app)
}

function readPageFile(name: string): Promise<string> {
  return readFile(new URL(name, PAGE_FILES), 'utf8')
}

/** Scalar's prebuilt script, `scalar-1.72.1.js`; scripts/update-reference.mjs puts it there, compressed. */
async function findScalar(): Promise<string> {
  const name = (await readdir(PAGE_FILES)).find((it) => it.startsWith('scalar-'))
  if (!name) throw new Error('server/reference has no script of the API reference: run npm run reference')
  return name.replace(/\.br$/, '')
}

function readScalar(name: string): Promise<Buffer> {
  return readFile(new URL(`${name}.br`, PAGE_FILES))
}
