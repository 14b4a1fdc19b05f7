import type { Reason } from './reasons.ts'

/** One problem with one form field. */
export interface FieldProblem {
  /** A dotted path for nested fields: `slips.3.hours`. */
  field: string
  reason: Reason
  code?: string
}

interface Details extends ErrorOptions {
  /** The form field with the problem, if there is exactly one. */
  field?: string
  /** For the command line, instead of the sentences of all problems. */
  message?: string
}

/**
 * A rejected request. What an administrator can cause has a reason, which the console says in its own language, or
 * several, each with its field. What only the command line says is a text.
 */
export class Refusal extends Error {
  readonly reason: Reason | undefined
  readonly problems: readonly FieldProblem[]

  constructor(why: Reason | FieldProblem[] | string = '', { field, message, ...options }: Details = {}) {
    super(message ?? textOf(why), options)
    this.reason = typeof why === 'string' || Array.isArray(why) ? undefined : why
    if (Array.isArray(why)) this.problems = why
    else this.problems = field === undefined || !this.reason ? [] : [{ field, reason: this.reason }]
  }
}

function textOf(why: Reason | FieldProblem[] | string): string {
  if (typeof why === 'string') return why
  return Array.isArray(why) ? why.map(({ reason }) => reason.message).join(' ') : why.message
}

/** The requested object does not exist, or is not visible to this person. */
export class NotFound extends Refusal {}
