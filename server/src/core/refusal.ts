/** One thing that is wrong with one field of a form. */
export interface FieldProblem {
  /** Dotted for what is inside: `slips.3.hours`. */
  field: string
  message: string
  code?: string
}

interface Details extends ErrorOptions {
  /** The field of a form that it is about, where it is about one. */
  field?: string
  /** All that is wrong, where it is more than one thing. */
  problems?: FieldProblem[]
}

/** A wish that cannot be met, in words for the person who had it: an administrator or someone at the command line. */
export class Refusal extends Error {
  readonly problems: readonly FieldProblem[]

  constructor(message = '', { field, problems, ...options }: Details = {}) {
    super(message, options)
    this.problems = problems ?? (field === undefined ? [] : [{ field, message }])
  }
}

/** What the wish is about does not exist, or not for this person. */
export class NotFound extends Refusal {}
