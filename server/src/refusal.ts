interface Details extends ErrorOptions {
  /** The field of a form that it is about, where it is about one. */
  field?: string
}

/** A wish that cannot be met, in words for the person who had it: an administrator or someone at the command line. */
export class Refusal extends Error {
  readonly field: string | undefined

  constructor(message?: string, { field, ...options }: Details = {}) {
    super(message, options)
    this.field = field
  }
}

/** What the wish is about does not exist, or not for this person. */
export class NotFound extends Refusal {}
