/** A small edit of the source that breaks a promise. The tests must notice. */
export interface Mutant {
  /** What no longer holds. */
  breaks: string
  /** Below `server/src`. */
  file: string
  /** Occurs exactly once in the file. */
  replace: string
  by: string
  /** The nearest test files, without `.test.ts`. */
  tests: string[]
  /** Part of the names of the nearest tests, to run only those. */
  named?: string
  /** Why no test can notice it, if so. */
  survives?: string
}
