/** One problem with one form field. */
export interface FieldProblem {
  /** A dotted path for nested fields: `slips.3.hours`. */
  field: string
  message: string
  code?: string
}

interface Details extends ErrorOptions {
  /** The form field with the problem, if there is exactly one. */
  field?: string
  /** All problems, if there are several. */
  problems?: FieldProblem[]
}

/** A rejected request, with a message for the administrator or the user of the command line. */
export class Refusal extends Error {
  readonly problems: readonly FieldProblem[]

  constructor(message = '', { field, problems, ...options }: Details = {}) {
    super(message, options)
    this.problems = problems ?? (field === undefined ? [] : [{ field, message }])
  }
}

/** The requested object does not exist, or is not visible to this person. */
export class NotFound extends Refusal {}
