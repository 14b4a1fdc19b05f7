import helmet from '@fastify/helmet'
import fastifyStatic from '@fastify/static'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'
import { sendError } from './send-error.ts'

const CONSOLE_DIR = fileURLToPath(new URL('../../../console/dist/', import.meta.url))
const YEAR_SECONDS = 365 * 24 * 60 * 60
const CONSOLE_PATH = '/console/'

/** The administrator's console: static files under a strict policy, nothing from elsewhere. */
export async function consoleRoutes(app: FastifyInstance): Promise<void> {
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect(CONSOLE_PATH))
  app.get('/console', { schema: { hide: true } }, async (_request, reply) => reply.redirect(CONSOLE_PATH))
  await app.register(consoleFiles, { prefix: CONSOLE_PATH })
}

async function consoleFiles(app: FastifyInstance): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        objectSrc: ["'none'"],
      },
    },
    // Whether all of a host is served over TLS is for the proxy in front to say.
    strictTransportSecurity: false,
  })
  await app.register(fastifyStatic, {
    root: CONSOLE_DIR,
    cacheControl: false,
    setHeaders(response, path) {
      const isHashed = path.includes('/assets/')
      response.setHeader('cache-control', isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache')
    },
  })
  // Deep links: the console's own router finds the page. A missing file is a missing file.
  app.setNotFoundHandler((request, reply) => {
    if (request.url.startsWith(`${CONSOLE_PATH}assets/`)) return sendError(new ApiError('not_found'), request, reply)
    return reply.sendFile('index.html')
  })
}
