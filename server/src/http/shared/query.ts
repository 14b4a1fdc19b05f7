import type { FastifyInstance } from 'fastify'
import { parseForm } from './form.ts'

const PROBLEM = Symbol('what is wrong with the query')

type Query = Record<string, string> & { [PROBLEM]?: unknown }

/** The router calls this outside any error handling, so a malformed query is only marked here. */
export function parseQuery(text: string): Query {
  if (text === '') return Object.create(null)
  try {
    return parseForm(text)
  } catch (error) {
    return { [PROBLEM]: error } as Query
  }
}

export function rejectMalformedQuery(app: FastifyInstance): void {
  app.addHook('preValidation', (request, _reply, done) => {
    done((request.query as Query)[PROBLEM] as Error | undefined)
  })
}
