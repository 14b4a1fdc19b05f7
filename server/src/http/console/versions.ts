import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ApiError, type ErrorCode } from '../shared/errors.ts'

const VERSION_LENGTH = 22

export const Version = Type.String({
  description: 'Changes with every change of the fields that a form can save; goes into If-Match',
})
export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ maxLength: 200, description: 'The version that the change is based on, quoted; or * for any' }),
  ),
})
export const VERSION_ERRORS: ErrorCode[] = ['version_required', 'changed_meanwhile']

/**
 * Identifies the content that an administrator saw. A digest instead of a counter: it needs no column, and follows
 * changes by the command line and by nodes of other versions.
 */
export function versionOf(fields: object): string {
  return hash('sha256', JSON.stringify(fields), 'base64url').slice(0, VERSION_LENGTH)
}

/** Rejects a change that is based on another version than the current one, so that it cannot undo what it never saw. */
export function requireVersion({ headers }: FastifyRequest, current: string): void {
  const given = headers['if-match']?.trim()
  if (given === undefined) throw new ApiError('version_required')
  if (given !== '*' && given !== `"${current}"`) throw new ApiError('changed_meanwhile')
}
