import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { ApiError } from './shared/errors.ts'
import { sendError } from './shared/send-error.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** RFC 9116 recommends less than a year. The file is made on each request, so it never expires while it is served. */
const VALID_DAYS = 180

/** Tells finders of vulnerabilities where to report them (RFC 9116). Without SECURITY_CONTACT there is no such file. */
export function securityTxtRoute(app: FastifyInstance, { config }: { config: Config }): void {
  app.get('/.well-known/security.txt', { schema: { hide: true } }, async (request, reply) => {
    if (config.securityContact === undefined) return sendError(new ApiError('not_found'), request, reply)
    return reply
      .type('text/plain; charset=utf-8')
      .header('cache-control', 'public, max-age=86400')
      .header('x-content-type-options', 'nosniff')
      .send(securityTxt(config.securityContact, config.publicUrl, new Date()))
  })
}

function securityTxt(contact: string, publicUrl: string, now: Date): string {
  const expires = new Date(now.getTime() + VALID_DAYS * DAY_MS).toISOString().replace(/\.\d+/, '')
  const fields = {
    Contact: contact,
    Expires: expires,
    'Preferred-Languages': 'en',
    Canonical: `${publicUrl}/.well-known/security.txt`,
  }
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}
