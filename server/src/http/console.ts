import helmet from '@fastify/helmet'
import fastifyStatic from '@fastify/static'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'

const CONSOLE_DIR = fileURLToPath(new URL('../../../console/dist/', import.meta.url))
const YEAR_SECONDS = 365 * 24 * 60 * 60

/** The administrator's console: static files under a strict policy, nothing from elsewhere. */
export async function consoleRoutes(app: FastifyInstance): Promise<void> {
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
    prefix: '/console/',
    wildcard: false,
    cacheControl: false,
    setHeaders(response, path) {
      const isHashed = path.includes('/assets/')
      response.setHeader('cache-control', isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache')
    },
  })
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/console/'))
  app.get('/console', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/console/'))
  // Deep links: the console's own router finds the page.
  app.get('/console/*', { schema: { hide: true } }, async (_request, reply) => reply.sendFile('index.html'))
}
