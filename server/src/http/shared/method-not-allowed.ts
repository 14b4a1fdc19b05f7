import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

/** Lets routes answer every method that Node reads, not only those that Fastify knows: PROPFIND is 405 too, not 404. */
export function answerAnyMethod(app: FastifyInstance): void {
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
}

/** Collects the addresses registered from here on; call the result last, to answer 405 to the methods they lack. */
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
        // Before the body is read: whatever it holds, the method is what is wrong.
        onRequest: async () => {
          throw new ApiError('method_not_allowed', { headers: { allow } })
        },
        handler: () => {},
      })
    }
  }
}
