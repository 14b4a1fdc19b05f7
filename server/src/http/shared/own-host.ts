import { isIP } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'
import { ApiError } from './errors.ts'
import { sendError } from './send-error.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Also answers requests for other host names: probes use the address of the machine. */
    anyHost?: true
  }
}

/** A name or an address in brackets, then a port. */
const HOST = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i

/**
 * Rejects requests for host names that are not ours. A page of another site can make its own name resolve to our address
 * (DNS rebinding); the browser then treats our responses as that site's, but still sends its name as Host. `headers` are
 * those that every response has.
 */
export function requireOwnHost(app: FastifyInstance, config: Config, headers: Record<string, string>): void {
  const isOwn = ownHosts(config)
  app.addHook('onRequest', (request, reply, done) => {
    const { host } = request.headers
    // HTTP/1.0 has no Host header, and no browser speaks it. The APIs require it otherwise.
    if (host === undefined || request.routeOptions.config.anyHost || isOwn(host)) return done()
    sendError(new ApiError('misdirected_request', { headers }), request, reply)
  })
}

type HostConfig = Pick<Config, 'publicUrl' | 'hasPublicUrl' | 'allowedHosts'>

/** Loopback names are always ours: only a program on this machine, or a proxy that does not pass Host, uses them. */
export function ownHosts({ publicUrl, hasPublicUrl, allowedHosts }: HostConfig): (host: string) => boolean {
  const names = new Set(['localhost', new URL(publicUrl).hostname, ...allowedHosts].map((name) => name.toLowerCase()))
  return (host) => {
    const name = HOST.exec(host)?.[1]?.toLowerCase()
    if (name === undefined) return false
    if (names.has(name)) return true
    const address = name.replace(/^\[|\]$/g, '')
    const isAddress = isIP(address) !== 0
    // Without PUBLIC_URL somebody tries the service out, on any address of their machine. Nobody can rebind an address.
    return isAddress && (!hasPublicUrl || address === '::1' || address.startsWith('127.'))
  }
}
