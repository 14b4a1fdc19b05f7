import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../shared/errors.ts'
import { sendError } from '../shared/send-error.ts'
import { answerNotModified } from './etag.ts'

/**
 * Prepares `app` for pages that people read at `/docs/`: a strict content security policy, 304 and 404. `more` allows
 * what a page needs beyond resources of our own.
 */
export async function prepareStaticPages(app: FastifyInstance, more: Record<string, string[]> = {}): Promise<void> {
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
        ...more,
      },
    },
    // HSTS applies to the whole host, so it is up to the reverse proxy.
    strictTransportSecurity: false,
  })
  app.addHook('onSend', answerNotModified)
  app.setNotFoundHandler((request, reply) => sendError(new ApiError('not_found'), request, reply))
}

/** `/` means the prefix with a slash: without it, the relative links of the page would lead elsewhere. */
export function serveText(app: FastifyInstance, path: string, type: string, text: string): void {
  app.get(path, { schema: { hide: true }, prefixTrailingSlash: 'slash' }, async (_request, reply) =>
    reply.type(type).header('cache-control', 'no-cache').send(text),
  )
}
