import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'
import { splitOnce } from './form.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The route of this path, if it is offered, but not with this method. */
    routeOfOtherMethods: string | undefined
  }
}

/** Accepts every method that Node parses, not only those Fastify knows: PROPFIND then gets our errors too. */
export function answerAnyMethod(app: FastifyInstance): void {
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
}

/** Answers 405 instead of 404 if the path is offered with other methods. Call it before the routes are registered. */
export function answerOtherMethods(app: FastifyInstance): void {
  const methodsByRoute = new Map<string, Set<string>>()
  app.decorateRequest('routeOfOtherMethods')
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByRoute.get(url) ?? new Set()
    methodsByRoute.set(url, methods)
    for (const one of [method].flat()) methods.add(one)
  })
  // Not in the handler: the body must not be read first, whatever it contains.
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.is404) return done()
    const [path] = splitOnce(request.url, '?')
    // As the router reads it. It has rejected malformed escapes already.
    const segments = path.split('/').map(decodeURIComponent)
    const offered = [...methodsByRoute].find(([route]) => isPathOf(route, segments))
    if (!offered) return done()
    const [route, methods] = offered
    request.routeOfOtherMethods = route
    done(new ApiError('method_not_allowed', { headers: { allow: [...methods].toSorted().join(', ') } }))
  })
}

function isPathOf(route: string, given: string[]): boolean {
  const wanted = route.split('/')
  return wanted.length === given.length && wanted.every((part, n) => part === given[n] || part.startsWith(':'))
}
