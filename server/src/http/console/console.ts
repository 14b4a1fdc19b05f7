import helmet from '@fastify/helmet'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PROJECT } from '../../core/project.ts'
import { ApiError } from '../shared/errors.ts'
import { sendError } from '../shared/send-error.ts'

const CONSOLE_DIR = fileURLToPath(new URL('console/dist/', PROJECT))
const YEAR_SECONDS = 365 * 24 * 60 * 60
const CONSOLE_PATH = '/console/'
/** Replaced in the page with the nonce for its styles. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__'

/** The administrator's console: static files with a strict content security policy and no external resources. */
export async function consoleRoutes(app: FastifyInstance): Promise<void> {
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect(CONSOLE_PATH))
  app.get('/console', { schema: { hide: true } }, async (_request, reply) => reply.redirect(CONSOLE_PATH))
  await app.register(consoleFiles, { prefix: CONSOLE_PATH })
}

async function consoleFiles(app: FastifyInstance): Promise<void> {
  await app.register(helmet, {
    // Components add style elements at run time; scripts come from files only.
    enableCSPNonces: true,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        objectSrc: ["'none'"],
      },
    },
    // HSTS applies to the whole host, so it is up to the reverse proxy.
    strictTransportSecurity: false,
  })
  await app.register(fastifyStatic, {
    root: CONSOLE_DIR,
    index: false,
    cacheControl: false,
    preCompressed: true,
    setHeaders(response, path) {
      const isHashed = path.includes('/assets/')
      response.setHeader('vary', 'accept-encoding')
      response.setHeader('cache-control', isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache')
    },
  })
  app.get('/', { schema: { hide: true } }, async (_request, reply) => sendPage(reply))
  // The console's router resolves deep links; only a missing asset is a 404.
  app.setNotFoundHandler((request, reply) => {
    if (request.url.startsWith(`${CONSOLE_PATH}assets/`)) return sendError(new ApiError('not_found'), request, reply)
    return sendPage(reply)
  })
}

async function sendPage(reply: FastifyReply): Promise<FastifyReply> {
  const page = await readFile(join(CONSOLE_DIR, 'index.html'), 'utf8')
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(page.replaceAll(NONCE_PLACEHOLDER, reply.cspNonce.style))
}
