import type { FastifyRequest } from 'fastify'
import { splitOnce } from '../shared/form.ts'

const ID = /^(\d{1,20}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/
const PLAIN = /^[\w-]{0,40}$/

/**
 * The path for the call log, without the query, which may contain search terms. Anything in place of an id that is none,
 * such as an email address, is replaced: the log is kept for months and outlives an erasure.
 */
export function loggedPath({ url }: Pick<FastifyRequest, 'url'>, route: string | undefined): string {
  const [path] = splitOnce(url, '?')
  if (path === route) return path
  const segments = path.split('/')
  const names = route?.split('/')
  const isKnown = names?.length === segments.length
  return segments
    .map((segment, n) => {
      if (isKnown) return names[n]!.startsWith(':') && ID.test(segment) ? segment : names[n]
      return PLAIN.test(segment) ? segment : '…'
    })
    .join('/')
}
