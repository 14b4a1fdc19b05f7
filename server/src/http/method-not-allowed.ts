import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

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
        handler: () => {
          throw new ApiError('method_not_allowed', { headers: { allow } })
        },
      })
    }
  }
}
