import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

/** Registers every method that Node parses, not only those Fastify knows: PROPFIND then gets 405 instead of 404. */
export function answerAnyMethod(app: FastifyInstance): void {
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
}

/** Collects the routes registered after this call; the returned function adds 405 for their other methods. */
export function answerOtherMethods(app: FastifyInstance): () => void {
  const offered = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.allow) return
    const methods = offered.get(url) ?? new Set()
    offered.set(url, methods)
    for (const one of [method].flat()) methods.add(one)
  })
  return () => {
    for (const [url, methods] of offered) {
      if (methods.has('GET')) methods.add('HEAD')
      const allow = [...methods].toSorted().join(', ')
      app.route({
        url: url.slice(app.prefix.length),
        method: app.supportedMethods.filter((method) => !methods.has(method)),
        config: { public: true, allow },
        schema: { hide: true },
        // Respond before reading the body, whatever it contains.
        onRequest: async () => {
          throw new ApiError('method_not_allowed', { headers: { allow } })
        },
        handler: () => {},
      })
    }
  }
}
